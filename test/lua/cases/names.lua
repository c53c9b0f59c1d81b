-- Names of functions: of Lua's from the place where they are defined, of C's by
-- the tables that have them.
--
--   luajit cases/names.lua compact off DIRECTORY MODULE STRIPPED-MODULE

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

-- Line of the function -> its name; false: it has none. A local of another
-- function (12) gives none, as it is set there and not made.
local names = {
  [1] = "make", [2] = "localf", [3] = "globalf", [5] = "M.field", [6] = "M.method",
  [7] = "M.assigned", [9] = "b.deep", [12] = false, [16] = "globalt.g",
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

-- C functions -----------------------------------------------------------------

local luaopen = assert(package.loadlib(arg[4], "luaopen_cmod"))

-- Sets what is in a table, and what was there before when fn is done.
local function with(t, values, fn)
  local before = {}
  for k, v in pairs(values) do
    before[k] = rawget(t, k) or false
    rawset(t, k, v)
  end
  local r = { fn() }
  for k, v in pairs(before) do rawset(t, k, v or nil) end
  return unpack(r)
end

-- The name, in a recording of its own, of the C function that fn(n) calls, and
-- which has this symbol; false if it has none.
local function name_of(symbol, fn)
  local keep
  local s = H.record(function()
    for i = 1, 3 do keep = fn(100 + i) end
  end)
  local name
  for _, f in pairs(s.funcs) do
    if f.kind == "c" and f.symbol == symbol then
      H.eq(name, nil, "another definition of %s", symbol)
      name = f.named or false
    end
  end
  return name
end

H.case("names of C functions in modules", function()
  local m = luaopen()
  H.eq(name_of("cm_userdata", m.userdata), false, "a function in no table")
  with(package.loaded, { ["a.module"] = m }, function()
    H.eq(name_of("cm_userdata", m.userdata), "a.module.userdata", "in a module")
    H.eq(name_of("cmod_exported", m.exported), "a.module.exported", "one that is exported")
  end)
  with(package.loaded, { ["a.module"] = { api = m } }, function()
    H.eq(name_of("cm_table", m.table), "a.module.api.table", "in a table of a module")
  end)
  with(package.loaded, { ["a.module"] = { api = { sub = m } } }, function()
    H.eq(name_of("cm_table", m.table), false, "three tables")
  end)
  with(package.loaded, { ["a.function"] = m.string }, function()
    H.eq(name_of("cm_string", m.string), "a.function", "a module that is a function")
  end)
end)

H.case("names of C functions in globals", function()
  local m = luaopen()
  with(_G, { aglobal = m.userdata }, function()
    H.eq(name_of("cm_userdata", m.userdata), "aglobal", "a global")
  end)
  with(_G, { vimlike = { api = m } }, function()
    H.eq(name_of("cm_userdata", m.userdata), "vimlike.api.userdata", "two tables")
  end)
  with(_G, { vimlike = { api = { sub = m } } }, function()
    H.eq(name_of("cm_userdata", m.userdata), false, "three tables")
  end)
end)

-- ljm_name.h: one table, two, a global; then the shortest, then by bytes.
H.case("C functions with several names", function()
  local m = luaopen()
  local all = { aglobal = m.userdata, outer = { m1 = m }, minetest = m, core = m, corf = m }
  with(_G, all, function()
    H.eq(name_of("cm_userdata", m.userdata), "core.userdata", "the shortest one")
    all.core.other = m.userdata
    H.eq(name_of("cm_userdata", m.userdata), "core.other", "the shortest field")
    all.core.other = nil
    with(package.loaded, { m = m }, function()
      H.eq(name_of("cm_userdata", m.userdata), "m.userdata", "a module")
    end)
  end)
  with(_G, { aglobal = m.userdata, outer = { api = m } }, function()
    H.eq(name_of("cm_userdata", m.userdata), "outer.api.userdata", "no global")
  end)
  -- LuaJIT's own names of builtins are better than any module's.
  with(package.loaded, { a = { sub = { rep = string.rep }, rep = string.rep } }, function()
    local s = H.record(function()
      local co = coroutine.wrap(string.rep)
      co("x", 70001)
    end)
    local seen
    for _, f in pairs(s.funcs) do seen = seen or f.builtin and f.symbol == "string.rep" end
    H.ok(seen, "string.rep is not that")
  end)
end)

-- The closures of a dispatcher have the names of what they do.
H.case("C functions in many closures", function()
  local m = luaopen()
  local one, two = m.closure(120), m.closure(130)
  with(_G, { serves = { get = one } }, function()
    H.eq(name_of("cm_closure_call", one), "serves.get", "one closure")
  end)
  with(_G, { serves = { get = one, put = two } }, function()
    H.eq(name_of("cm_closure_call", one), false, "two closures, two names")
  end)
  with(_G, { serves = { get = one }, others = { get = two } }, function()
    H.eq(name_of("cm_closure_call", one), "others.get", "two closures, one field")
  end)
end)

H.case("tables that are not what they seem", function()
  local m = luaopen()
  local t = setmetatable({ userdata = m.userdata }, {
    __index = function() error("a metamethod is called") end,
    __metatable = "none",
  })
  t.t, t.g, t.loaded = t, _G, package.loaded
  with(_G, { cyclic = t }, function()
    H.eq(name_of("cm_userdata", m.userdata), "cyclic.userdata", "cycles")
  end)
  with(_G, { data = { ["GET /"] = m.userdata, [1] = m.userdata, ["a\0b"] = m.userdata } }, function()
    H.eq(name_of("cm_userdata", m.userdata), false, "keys of data")
  end)
  local large = {}
  for i = 1, 5000 do large["key" .. i] = i end
  large.userdata = m.userdata
  with(_G, { large = large }, function()
    H.eq(name_of("cm_userdata", m.userdata), false, "tables of data")
  end)
  -- Keys whose values are gone are freed with time, and stay where they are.
  local holes = {}
  for i = 1, 200 do holes["a key of its own " .. i] = m.userdata end
  for i = 1, 200 do holes["a key of its own " .. i] = nil end
  collectgarbage()
  local full = {}
  for i = 1, 200 do full[i] = ("x"):rep(i) .. i end
  with(_G, { holes = holes }, function()
    H.eq(name_of("cm_userdata", m.userdata), false, "freed keys")
  end)
  with(package.loaded, { ["m" .. ("x"):rep(300)] = m }, function()
    H.eq(name_of("cm_userdata", m.userdata), false, "a name that is too long")
  end)
end)

H.case("names of C functions in a stripped module", function()
  local m = assert(package.loadlib(arg[5], "luaopen_cmod"))()
  with(package.loaded, { bare = m }, function()
    local s = H.record(function() m.userdata(100) m.table(100) m.exported(100) end)
    local seen = {}
    for _, f in pairs(s.funcs) do
      if f.named then seen[f.named] = f.symbol or "-" end
    end
    H.eq(seen["bare.userdata"], "-", "symbol of userdata")
    H.eq(seen["bare.table"], "-", "symbol of table")
    H.eq(seen["bare.exported"], "cmod_exported", "symbol of exported")
  end)
end)

-- Modules are often found by links: the kernel, and so the sampler, has the
-- file's own path.
H.case("modules by symbolic links", function()
  local link = H.dir .. "/cmod-link.so"
  local name = H.dir .. "/cmod-copy.so" -- Another file, by a link only.
  os.remove(name)
  assert(os.execute("cp " .. H.quote(arg[4]) .. " " .. H.quote(name)))
  os.remove(link)
  assert(os.execute("ln -s " .. H.quote(name) .. " " .. H.quote(link)))
  local m = assert(package.loadlib(link, "luaopen_cmod"))()
  local s = H.record(function() m.userdata(100) end)
  local p = assert(io.popen("realpath " .. H.quote(name)))
  local path = p:read("*l")
  p:close()
  local seen
  for _, f in pairs(s.funcs) do
    if f.symbol == "cm_userdata" then seen = f.module end
  end
  H.eq(seen, path, "path of the module")
  os.remove(link)
  os.remove(name)
end)

-- Stripped code ---------------------------------------------------------------

local bare = [[
local function a(n) local t = {} for i = 1, n do t[i] = i % 7 end return t end
local function b(n) local t = {} for i = 1, n do t[i] = i % 9 end return t, n end
local function one() return { tostring(1.5) } end
local function two() return { tostring(2.5) } end
local function x() return { x = ("x"):rep(2) } end
local function y() return { x = ("y"):rep(2) } end
return { a, b, one, two, x, y }
]]

-- Hashes of the functions of stripped code that are called.
local function hashes(list)
  local s = H.record(function()
    for i = 1, #list do list[i](3) end
  end)
  local seen, n = {}, 0
  for _, f in pairs(s.funcs) do
    if f.chunk == "@bare.lua" then
      H.eq(f.first, 0, "first line")
      H.ok(f.stripped and f.byhash, "flags %d", f.flags)
      if not seen[f.hash] then n = n + 1 end
      seen[f.hash] = true
    end
  end
  return seen, n
end

-- By code, by numbers, by strings; the same each time, without the main chunk.
H.case("functions of stripped code", function()
  local code = string.dump(loadstring(bare, "=?"), true)
  local first, n = hashes(loadstring(code, "@bare.lua")())
  H.eq(n, 6, "functions with a hash of their own")
  local list = loadstring(code, "@bare.lua")()
  collectgarbage()
  collectgarbage()
  local second, m = hashes(list)
  H.eq(m, 6, "functions whose main chunk is gone")
  for hash in pairs(first) do H.ok(second[hash], "the hash %s is another one", tostring(hash)) end
  local s = H.record(function() loadstring("return { 1 }", "@bare.lua")() end)
  for _, f in pairs(s.funcs) do
    if f.chunk == "@bare.lua" then H.ok(not f.byhash, "a main chunk with lines") end
  end
end)

H.done()
