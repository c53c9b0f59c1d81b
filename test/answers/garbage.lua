-- A simulation that makes a vector for each step of each particle, and reads
-- its configuration at the start, which stays.

local Vector = {}
Vector.__index = Vector

function Vector.__add(a, b)
  return setmetatable({x = a.x + b.x, y = a.y + b.y}, Vector) -- GUILTY
end

local function vector(x, y) return setmetatable({x = x, y = y}, Vector) end

local config = {}
for i = 1, 2000 do config["option" .. i] = {value = i} end

local particles = {}
for i = 1, 100 do
  particles[i] = {at = vector(i, 0), speed = vector(0, i), log = {}}
end

local function step(p, n)
  p.at = p.at + p.speed
  p.at = p.at + p.speed
  if n % 500 == 0 then p.log[#p.log + 1] = p.at.x .. "," .. p.at.y end
end

for n = 1, 3000 do
  for _, p in ipairs(particles) do step(p, n) end
end
assert(config.option7.value == 7)
