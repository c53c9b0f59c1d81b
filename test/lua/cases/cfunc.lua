-- C functions: their names, and what they call.
--
--   luajit cases/cfunc.lua FORMAT on|off DIRECTORY MODULE STRIPPED-MODULE

local H = require("harness")

-- The values of a module's symbols, by nm.
local function symbols_of(path)
  local p = assert(io.popen("nm " .. H.quote(path)))
  local symbols = {}
  for value, name in p:read("*a"):gmatch("(%x+) [tT] ([%w_]+)\n") do
    symbols[name] = tonumber(value, 16)
  end
  p:close()
  return symbols
end

local function load(path)
  return assert(package.loadlib(path, "luaopen_cmod"))()
end

local symbols = symbols_of(arg[4])

-- What the VM adds to the sizes of userdata and strings.
local overhead, text_overhead = nil, math.huge
do
  local m, rep = load(arg[4]), string.rep
  local s = rep("a", 1027)
  collectgarbage("stop")
  jit.off() -- It allocates whenever it likes.
  local before = H.count()
  local u = m.userdata(1024)
  overhead = H.count() - before - 1024
  for c in ("bcd"):gmatch(".") do -- One of them may let the table of strings grow.
    before = H.count()
    s = rep(c, 1027)
    text_overhead = math.min(text_overhead, H.count() - before - 1027)
  end
  if H.jit then jit.on() end
  collectgarbage("restart")
end

-- The one event of a size.
local function event_of(s, size)
  local list = H.find(s, { kind = "alloc", nsize = size })
  H.eq(#list, 1, "events of size %d", size)
  return list[1]
end

-- Is an event where a C function is expected?
local function check_c(s, size, name, path, stripped)
  local e = event_of(s, size)
  if not e then return end
  local site = e.site
  H.eq(site.source, "c", "source of %s (%s)", name, H.describe(site))
  local symbol = (not stripped or name == "cmod_exported") and name or nil
  if H.format ~= "rfc" then H.eq(site.symbol, symbol, "symbol of %s", name) end
  if H.compact then
    H.eq(site.module, path, "module of %s", name)
    H.eq(site.offset, symbols[name], "offset of %s", name)
    H.eq(site.builtin, false, "%s is a builtin", name)
    H.eq(site.line, 0, "line of %s", name)
    H.eq(site.approx or site.traced, false, "flags of %s", name)
    H.eq((site.addr - site.offset) % 4096, 0, "address of the module")
  end
end

local function check_lua(s, size, line)
  local e = event_of(s, size)
  if not e then return end
  H.eq(e.site.source, "lua", "source of the callback")
  H.eq(e.site.line, line, "line of the callback")
end

local function try_module(path, stripped)
  local m = load(path)
  -- Strings of their own for each module: the others may still be there.
  local big = stripped and 200000 or 100000
  -- A length whose string has a size that is no multiple of 8.
  local text = big + ((big + 3 + text_overhead) % 8 == 0 and 7 or 3)
  if stripped then text = text + 8 end -- Not the string of the other module.
  local new, keep = m.userdata, {}
  local function callback() keep[#keep + 1] = ("x"):rep(text) end
  local callback_line = debug.getinfo(callback, "S").linedefined
  H.off(callback)
  local s = H.record(function()
    keep[1] = new(big + 8)
    keep[2] = m.table(big)
    keep[3] = m.string(text + 1000)
    keep[4] = m.call(big + 16, callback)
    keep[5] = m.pcall(big + 32, function() error({}) end)
    keep[6] = m.nested(big + 48)
    local co = coroutine.wrap(m.yield)
    keep[7] = co(big + 56)
    keep[8] = m.other(big + 64)
    keep[9] = m.closure(big + 72)()
    keep[10] = m.exported(big + 80)
    keep[11] = select(2, pcall(new, big + 88))
    keep[12] = select(2, coroutine.resume(coroutine.create(new), big + 96))
    keep[13] = setmetatable({}, { __index = function(t, k) return new(k) end })[big + 104]
    keep[14] = setmetatable({}, { __call = function(t, n) return (new(n)) end })(big + 112)
    for i = 1, 50 do
      keep[15] = new(big + 1000 + 8 * i) -- On traces, by stitching.
    end
  end)
  check_c(s, big + 8 + overhead, "cm_userdata", path, stripped)
  check_c(s, (big + 1) * 8, "cm_table", path, stripped)
  check_c(s, big + 16 + overhead, "cm_call", path, stripped)
  check_c(s, big + 24 + overhead, "cm_call", path, stripped)
  check_c(s, big + 32 + overhead, "cm_pcall", path, stripped)
  check_c(s, big + 40 + overhead, "cm_pcall", path, stripped)
  check_c(s, big + 48 + overhead, "cm_userdata", path, stripped)
  check_c(s, big + 56 + overhead, "cm_yield", path, stripped)
  check_c(s, big + 64 + overhead, "cm_other", path, stripped)
  check_c(s, big + 72 + overhead, "cm_closure_call", path, stripped)
  check_c(s, big + 80 + overhead, "cmod_exported", path, stripped)
  for _, n in ipairs({ 88, 96, 104, 112 }) do
    check_c(s, big + n + overhead, "cm_userdata", path, stripped)
  end
  for i = 1, 50 do
    check_c(s, big + 1000 + 8 * i + overhead, "cm_userdata", path, stripped)
  end
  check_lua(s, text + text_overhead, callback_line)
  check_c(s, text + 1000 + text_overhead, "cm_string", path, stripped)
  return s
end

H.case("a module with symbols", function() try_module(arg[4], false) end)
H.case("a stripped module", function() try_module(arg[5], true) end)

-- Builtins are named when nobody called them from Lua.
H.case("builtins as bodies of coroutines", function()
  local s = H.record(function()
    local co = coroutine.wrap(string.rep)
    co("x", 70003)
  end)
  local n = 0
  for _, e in ipairs(s.events) do
    if e.kind == "alloc" and e.nsize > 70003 and e.nsize < 70100 then
      n = n + 1
      H.eq(e.site.source, "c", "source")
      if H.compact then
        H.eq(e.site.builtin, true, "%s is a builtin", tostring(e.site.symbol))
        H.eq(e.site.symbol, "string.rep", "symbol")
      end
    end
  end
  H.eq(n, 1, "strings")
end)

H.case("each C function is defined once", function()
  local m = load(arg[4])
  local s = H.record(function()
    for i = 1, 20000 do m.userdata(i % 100) end
  end)
  if H.compact then
    local seen = 0
    for _, f in pairs(s.funcs) do
      if f.symbol == "cm_userdata" then seen = seen + 1 end
    end
    H.eq(seen, 1, "definitions")
  end
  H.ok(s.counts.alloc >= 20000, "%d allocations", s.counts.alloc)
end)

H.done()
