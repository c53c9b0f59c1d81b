-- Strings: concatenation, formatting, substitution. arg[1]: the rounds.

local rounds = tonumber(arg and arg[1]) or 400

-- Arithmetic that is exact in a double.
local function checksum(h, s)
  for i = 1, #s, 7 do h = (h * 31 + s:byte(i)) % 2147483647 end
  return h
end

local hash, words = 17, {}
for i = 1, 100 do words[i] = ("w%d"):format(i * i) end

for r = 1, rounds do
  local line = {}
  for i = 1, 100 do
    local w = words[(i * r) % 100 + 1] .. r
    line[i] = (i % 3 == 0) and w:upper() or w:rep(2)
  end
  local s = table.concat(line, " ")
  s = s:gsub("W(%d+)", "<%1>"):gsub("1", { ["1"] = "one" })
  local tail = ""
  for w in s:sub(-300):gmatch("%w+") do tail = w .. "," .. tail end
  hash = checksum(checksum(hash, s), tail .. tostring(r * 0.5))
end
print("strings", hash)
