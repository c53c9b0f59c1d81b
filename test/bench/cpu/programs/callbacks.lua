-- Lua called by builtins: gsub, sort, and by both, one in the other.
local truth = require("truth")

local share, text = 0, ("x"):rep(10)

local function each60()
  local x = 1
  for i = 1, share do x = x * 0.999 + i end
  return "y"
end

local function less30(a, b)
  local x = 1
  for i = 1, share do x = x * 0.998 + i end
  return a < b and x > 0
end

local function deep10(a, b)
  local x = 1
  for i = 1, share do x = x * 0.997 + i end
  return a < b and x > 0
end

local function gsub60(n) share = n local s = text:gsub(".", each60) return s end
local function sort30(n) share = n table.sort({ 3, 1, 2, 5, 4 }, less30) return n end
local function inside() table.sort({ 1, 3, 2 }, deep10) return "z" end
local function both10(n) share = n local s = text:gsub("^.", inside) return s end

local function main()
  truth.measure({
    { "each60", 6, each60, call = gsub60 }, { "less30", 3, less30, call = sort30 },
    { "deep10", 1, deep10, call = both10 },
  })
end

truth.chain("main", "gsub60", "each60")
truth.chain("main", "sort30", "less30")
truth.chain("main", "both10", "inside", "deep10")
main()
