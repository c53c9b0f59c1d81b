-- Names of Lua functions, from the place where they are defined.

local H = require("harness")
if not H.compact or H.jit then H.skip("exact names are for compact, JIT off") end

local source = [[
local make = function() return { 1 } end
local function localf() return { 2 } end
function globalf() return { 3 } end
local M = {}
function M.field() return { 4 } end
function M:method() return { 5 } end
M.assigned = function() return { 6 } end
M.a = { b = {} }
function M.a.b.deep() return { 7 } end
local up
local function setter()
  up = function() return { 8 } end
end
setter()
globalt = {}
function globalt.g() return { 9 } end
local t = { ctor = function() return { 10 } end }
local anonymous = (function() return function() return { 11 } end end)()
local function outer()
  local function inner() return { 12 } end
  return inner
end
assigned_global = function() return { 13 } end
local first, second = function() return { 14 } end, function() return { 15 } end
local function recursive(n) if n > 0 then return recursive(n - 1) end return { 16 } end
local later
later = function() return { 17 } end
function M.with_a_long_name_that_is_still_a_name() return { 18 } end
do local blocklocal = function() return { 19 } end M.x = blocklocal end
make() localf() globalf() M.field() M:method() M.assigned() M.a.b.deep()
up() globalt.g() t.ctor() anonymous() outer()() assigned_global() first() second()
recursive(0) later() M.with_a_long_name_that_is_still_a_name() M.x()
pcall(function() return { 20 } end)
local main = { 21 }
]]

-- Line of the function -> its name; false: it has none.
local names = {
  [1] = "make", [2] = "localf", [3] = "globalf", [5] = "M.field", [6] = "M.method",
  [7] = "M.assigned", [9] = "b.deep", [12] = "up", [16] = "globalt.g",
  [20] = "inner", [23] = "assigned_global", [25] = "recursive", [27] = "later",
  [28] = "M.with_a_long_name_that_is_still_a_name", [29] = "blocklocal",
  [33] = false, [0] = false,
}

local function check(how, load_before)
  H.case("names of functions loaded " .. how, function()
    local env = setmetatable({}, { __index = _G })
    local fn = load_before and loadstring(source, "@names.lua")
    local s = H.record(function()
      fn = fn or loadstring(source, "@names.lua")
      setfenv(fn, env)
      fn()
    end)
    local seen = {}
    for _, f in pairs(s.funcs) do
      if f.chunk == "@names.lua" then seen[f.first] = f.name or false end
    end
    for first, name in pairs(names) do
      H.eq(seen[first], name, "name of the function on line %d", first)
    end
    -- The owner's choice: a field of a constructor, or nothing. Never wrong.
    H.ok(not seen[17] or seen[17]:match("ctor$"), "name of a constructor's field is %s", tostring(seen[17]))
    H.ok(not seen[18], "name of an anonymous function is %s", tostring(seen[18]))
    H.ok(not seen[24] or seen[24] == "first" or seen[24] == "second", "name is %s", tostring(seen[24]))
  end)
end

check("after the start", false)
check("before the start", true)

H.case("names of functions in stripped code", function()
  local s = H.record(function()
    local fn = loadstring(string.dump(loadstring(source, "@names.lua"), true))
    setfenv(fn, setmetatable({}, { __index = _G }))
    fn()
  end)
  local n = 0
  for _, f in pairs(s.funcs) do
    if f.stripped then
      n = n + 1
      -- Fields and globals are still known by their constants.
      H.ok(f.name == nil or source:find(f.name:match("[^.]*$"), 1, true), "name %s", tostring(f.name))
    end
  end
  H.ok(n > 10, "%d stripped functions", n)
end)

-- The main chunk is collected once it has run: its functions hold each other.
local gone = [[
local M = {}
function M.make(i) return {i} end
local function helper(i) return {i, i} end
local changed = function(i) return {i} end
changed = function(i) return {i} end
local data = {}
for i = 1, 3 do data["key" .. i] = function(i) return {i} end end
local class = {}
class.__index = class
function class:method() return {} end
M.exported = function() return {} end
function M.go()
  M.make(1)
  helper(2)
  changed(3)
  data.key1(4)
  setmetatable({}, class):method()
  return {}
end
return M
]]
local gone_names = {
  [2] = "M.make", [3] = "helper", [5] = false, [7] = false, [10] = "class.method",
  [11] = "M.exported", [12] = "M.go",
}

H.case("names of functions whose definition is gone", function()
  local m = loadstring(gone, "@gone.lua")()
  local alone = loadstring("return {alone = function() return {} end}", "@alone.lua")()
  package.loaded["names.alone"] = alone
  collectgarbage()
  collectgarbage()
  local s = H.record(function()
    m.go()
    m.exported()
    alone.alone()
  end)
  package.loaded["names.alone"] = nil
  local seen = {}
  for _, f in pairs(s.funcs) do
    if f.chunk == "@gone.lua" then seen[f.first] = f.name or false end
    if f.chunk == "@alone.lua" then seen.alone = f.name or false end
  end
  for first, name in pairs(gone_names) do
    H.eq(seen[first], name, "name of the function on line %d", first)
  end
  H.eq(seen.alone, "names.alone.alone", "name of a module's function")
end)

H.case("names in 2,000 chunks with many functions each", function()
  local s = H.record(function()
    for i = 1, 2000 do
      local fn = loadstring(("local function f%d() return {} end local g%d = function() " ..
                            "return f%d() end return g%d()"):format(i, i, i, i), "=many")
      fn()
    end
  end)
  local right, wrong = 0, 0
  for _, f in pairs(s.funcs) do
    if f.chunk == "=many" and f.name then
      if f.name:match("^[fg]%d+$") then right = right + 1 else wrong = wrong + 1 end
    end
  end
  H.ok(right >= 2000, "%d functions have a name", right)
  H.eq(wrong, 0, "functions with a wrong name")
end)

H.done()
