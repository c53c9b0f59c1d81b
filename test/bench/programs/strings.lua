-- Strings: concatenation, formatting, splitting, interning.

local ROUNDS = tonumber((...)) or 120

local words, n = {}, 0
for round = 1, ROUNDS do
  for i = 1, 20000 do
    words[i] = "key" .. i .. ":" .. round
    n = n + #words[i]
  end
  local line = table.concat(words, ",", 1, 2000)
  for word in line:gmatch("[^,]+") do
    n = n + #word:upper()
  end
end
for i = 1, 7500 * ROUNDS do
  n = n + #("%d-%s"):format(i, words[i % 1000 + 1])
end
print(n)
