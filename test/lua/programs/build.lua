-- Tables that grow and shrink, sorting, metamethods. arg[1]: the rounds.

local rounds = tonumber(arg and arg[1]) or 100

local V = {}
V.__index = V
V.__add = function(a, b) return setmetatable({ a[1] + b[1], a[2] + b[2] }, V) end
V.__eq = function(a, b) return a[1] == b[1] and a[2] == b[2] end
V.__lt = function(a, b) return a[1] < b[1] end
V.__concat = function(a, b) return tostring(a) .. tostring(b) end
V.__tostring = function(a) return "(" .. a[1] .. "," .. a[2] .. ")" end

local function vector(x, y) return setmetatable({ x, y }, V) end

local seed = 42
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n
end

local sum, text = 0, ""
for r = 1, rounds do
  local list = {}
  for i = 1, 200 do list[i] = vector(random(1000), i) + vector(1, r) end
  table.sort(list)
  for i = 2, #list do assert(not (list[i] < list[i - 1])) end
  for i = #list, 101, -1 do list[i] = nil end
  local map = {}
  for _, v in ipairs(list) do map["k" .. v[1]] = v end
  for _, v in pairs(map) do sum = sum + v[1] end
  text = (text .. list[1] .. list[#list]):sub(-200)
  if list[1] == list[2] then sum = sum + 1 end
end
print("build", sum, text)
