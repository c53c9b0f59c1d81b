-- Functions that the VM calls by itself: __index, __add, __call, __lt, __concat.
local truth = require("truth")

local mt = {}
local object = setmetatable({}, mt)

function mt.__index(_, n)
  local x = 1
  for i = 1, n do x = x * 0.999 + i end
  return x
end

function mt.__add(_, n)
  local x = 1
  for i = 1, n do x = x * 0.998 + i end
  return x
end

function mt.__call(_, n)
  local x = 1
  for i = 1, n do x = x * 0.997 + i end
  return x
end

function mt.__concat(_, n)
  local x = 1
  for i = 1, n do x = x * 0.996 + i end
  return x
end

local function get40(n) local x = object[n] return x end
local function add30(n) local x = object + n return x end
local function call20(n) local x = object(n) return x + 1 end
local function cat10(n) local x = object .. n return x end

local function main()
  truth.measure({
    { "__index", 4, mt.__index, call = get40 }, { "__add", 3, mt.__add, call = add30 },
    { "__call", 2, mt.__call, call = call20 }, { "__concat", 1, mt.__concat, call = cat10 },
  })
end

truth.chain("main", "get40", "__index")
truth.chain("main", "add30", "__add")
truth.chain("main", "call20", "__call")
truth.chain("main", "cat10", "__concat")
main()
