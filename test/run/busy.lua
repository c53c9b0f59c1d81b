-- A second of CPU time, in one function; and some tables.
local keep = {}
local function burn(seconds)
  local x, start = 0, os.clock()
  repeat
    for i = 1, 10000 do x = x + i % 7 end
  until os.clock() - start > seconds
  return x
end
for i = 1, 5000 do keep[i] = {i} end
burn(0.5)
print("done")
