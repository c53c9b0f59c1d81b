-- Makes random Lua programs: shapes that the compiler has a hard time with,
-- functions, and all of a program.

local G = require("gen_stmt")

-- Text of a function's inside. The caller's loops are not the function's:
-- n is how often it will run each time.
function G:inside(params, n, depth, vararg, after)
  local saved = { self.times, self.breakable, self.vararg }
  local mark = self:mark()
  for _, name in ipairs(params) do self:declare("set", name) end
  self.times, self.breakable, self.vararg = self.times * n, false, vararg
  local text = self:block(self:rnd(3), depth, nil, after)
  self.times, self.breakable, self.vararg = unpack(saved, 1, 3)
  self:release(mark)
  return text
end

local function returns(expr)
  return function(self)
    return "return" .. self:b() .. expr(self)
  end
end

-- Shapes ----------------------------------------------------------------------

-- Objects that only a rare branch lets live on: the compiler puts off making
-- them until it is left there.
local function sink(self)
  local o = self:name("o")
  local make = self:pick({ "{ x =" .. self:b() .. self:num(2) .. ", y = " .. self:num(1) .. " }",
    "new(" .. self:num(2) .. "," .. self:b() .. self:num(1) .. ")",
    self.has_ffi and "point(" .. self:num(2) .. "," .. self:b() .. self:num(1) .. ")" or
      "{ x = 1,\ny = " .. self:num(1) .. " }" })
  self:charge(10)
  return "local " .. o .. " = " .. make .. self:s() .. "if " .. self:rare() .. self:b() ..
         "then kept = " .. o .. " end" .. self:s() .. "acc = (acc + " .. o .. ".x" .. self:b() ..
         "- " .. o .. ".y) % 1000003"
end

-- A closure that changes what it is around, called at once and later.
local function closure(self)
  local f = self:name("c")
  local up, vararg = self:var("set"), self.vararg
  self.vararg = false
  local change = "local function " .. f .. "(" .. f .. "x) " .. up .. " =" .. self:b() .. up ..
                 " % 9973 + " .. self:num(1)
  self.vararg = vararg
  local body = self:inside({ f .. "x" }, 4, 0, false, returns(function()
    return up .. self:b() .. "+ " .. f .. "x"
  end))
  return change .. self:s() .. body .. "end" .. self:s() .. "acc = (acc + " .. f .. "(" ..
         self:num(1) .. ")" .. self:b() .. "+ " .. f .. "(" .. self:b() .. "2)) % 1000003"
end

-- Errors within a loop: from a function, or from one that is made in the loop.
local function protected(self)
  local ok, r = self:name("ok"), self:name("n")
  if not self:once(3) then
    return "local " .. ok .. ", " .. r .. " =" .. self:b() .. "pcall(check," .. self:b() ..
           self:num(2) .. "," .. self:b() .. self:pick({ 5, 7, 23 }) .. ")" .. self:s() .. "out(" ..
           ok .. "," .. self:b() .. r .. ")"
  end
  local body = self:inside({ "p" }, 1, 1, false, returns(function() return self:num(2) end))
  return "local " .. ok .. ", " .. r .. " =" .. self:b() .. "pcall(function(p)" .. self:b() ..
         "if p % " .. self:pick({ 3, 7, 23 }) .. " == 2 then error(" .. self:b() ..
         self:pick({ "'odd'", "{ p }", "p" }) .. ") end" .. self:s() .. body .. "end," ..
         self:b() .. self:num(1) .. ")" .. self:s() .. "out(" .. ok .. "," .. self:b() .. "not " ..
         ok .. " and type(" .. r .. ") or " .. r .. ")"
end

-- A coroutine's loop, and the loop that resumes it.
local function coroutines(self)
  local n, co, v = self:pick({ 4, 10, 40 }), self:name("co"), self:name("v")
  if not self:afford(n * 60) then return sink(self) end
  self:charge(n * 10)
  local inner = self:inside({ "q" }, n, 1, false, function()
    return "q = yield(" .. self:b() .. self:num(2) .. ") or 1"
  end)
  return "local " .. co .. " = wrap(function(q)" .. self:b() .. "for i = 1, " .. n .. " do" ..
         self:b() .. inner .. " end" .. self:s() .. "return 0 end)" .. self:s() .. "for i = 1, " ..
         n .. " do" .. self:b() .. "local " .. v .. " = " .. co .. "(" .. self:b() .. "i)" ..
         self:s() .. "acc = (acc + " .. v .. ") % 1000003 end"
end

-- Recursion of each kind: the compiler unrolls it, or makes loops of it.
local function recursion(self)
  local f = self:name("rec")
  local depth = self:pick({ 3, 9, 30, 100 })
  if not self:afford(depth * 15) then return sink(self) end
  self:charge(depth * 15)
  local stop = "if d <= 0 then return" .. self:b() .. self:var("num") .. " end"
  local down = self:pick({
    "return " .. f .. "(d - 1," .. self:b() .. "(x" .. self:b() .. "+ d * 2) % 9973)",
    "return (d" .. self:b() .. "+ " .. f .. "(d - 1," .. self:b() .. "x + 1)) % 9973",
    "local r = " .. f .. "(d - 1," .. self:b() .. "x)" .. self:s() .. "acc = (acc" .. self:b() ..
      "+ r + d) % 1000003" .. self:s() .. "return r" .. self:b() .. "+ 1",
    "return" .. self:b() .. "select(2, d," .. self:b() .. f .. "(d - 1, x))",
    "local a," .. self:b() .. "b = " .. f .. "(d - 1, x)" .. self:s() .. "return a" .. self:b() ..
      "+ d, (b or" .. self:b() .. "x) + 1" })
  return "local function " .. f .. "(d, x)" .. self:b() .. stop .. self:s() .. down .. " end" ..
         self:s() .. "out((" .. f .. "(" .. depth .. "," .. self:b() .. self:num(1) .. " % 100)))"
end

-- Results and arguments of unknown number, passed on over new lines.
local function many(self)
  local call = self:call(2, true)
  local n = self:rnd(4)
  self:charge(10)
  if n == 1 then return "out(" .. self:num(1) .. "," .. self:b() .. "count(" .. self:b() .. call .. "))" end
  if n == 2 then
    return "acc = (acc + total(" .. self:b() .. self:num(1) .. "," .. self:b() .. "pass(" ..
           self:b() .. call .. "))) % 1000003"
  end
  if n == 3 then return "out(#{" .. self:num(1) .. "," .. self:b() .. call .. " })" end
  return "kept = {" .. self:b() .. "pass(" .. call .. ")," .. self:b() .. "total(" .. self:b() ..
         "pass(" .. self:b() .. call .. ")) }" .. self:s() .. "out(kept[1]," .. self:b() .. "kept[2])"
end

-- A variable that is now a number, now a string, now nothing.
local function unstable(self)
  local u = self:name("u")
  local i = self:var("num")
  self:charge(6)
  return "local " .. u .. " =" .. self:b() .. self:num(1) .. self:s() .. "if " .. i .. " % 3 == 0 then " ..
         u .. " =" .. self:b() .. "nil elseif " .. i .. " % 5 == 1 then " .. u .. " = " ..
         self:str(1) .. " end" .. self:s() .. "out(" .. u .. self:b() .. "or 'none')" .. self:s() ..
         "acc = (acc + (" .. u .. self:b() .. "and tonumber(" .. u .. ")" .. self:b() .. "or 5)) % 1000003"
end

-- The profiler is stopped or started, sometimes from compiled code.
local function tick(self)
  return "if " .. self:rare() .. " then tick() end"
end

G.shapes = { 5, sink, 1, closure, 2, protected, 1, coroutines, 3, recursion, 4, many, 3, unstable,
  1, tick }

-- Functions -------------------------------------------------------------------

-- The kinds of results of functions: one number, a tail call, many.
local results = { 5, function(self) return self:bounded(3) end,
  2, function(self) return self:call(2, false) end,
  2, function(self) return self:num(1) .. "," .. self:b() .. self:num(1) end,
  2, function(self) return self:num(1) .. "," .. self:b() .. self:call(2, true) end }

function G:definition(name, depth)
  local params, n = {}, self:rnd(3)
  local vararg = self:once(3)
  for i = 1, n do params[i] = self:name("a") end
  local before = self.work
  self:layout()
  local body = self:inside(params, 1, depth, vararg, returns(function()
    if vararg and self:once(4) then return "..." end
    return self:choose(results)
  end))
  local list = table.concat(params, ", ") .. (vararg and ", ..." or "")
  self.functions[#self.functions + 1] = { name = name, params = n, vararg = vararg, many = true,
    cost = self.work - before + 5 }
  self.work = before -- It did not run yet.
  return "local function " .. name .. "(" .. list .. ")" .. self:b() .. body .. "end"
end

-- What all programs have at hand. It is written anew for each, since it shares
-- lines and traces with the rest.
function G:prelude()
  local function b() return self:b() end
  self.breaks = self:pick({ 0, 10, 90 })
  local text = {
    "local floor, abs, ceil, max, min = math.floor, math.abs, math.ceil, math.max, math.min",
    "local band, bor, bxor, bnot = bit.band, bit.bor, bit.bxor, bit.bnot",
    "local lshift, rshift, arshift = bit.lshift, bit.rshift, bit.arshift",
    "local byte, sub, format, upper, rep = string.byte, string.sub, string.format, string.upper, string.rep",
    "local wrap, yield = coroutine.wrap, coroutine.yield",
    "local acc, kept = 1, nil",
    "local hash = { [3] = 1, [-1] = 2, [100] = 3, [0.5] = 4, a = 5, b = 6, [7] = 7, c = 8 }",
    "local function out(...)" .. b() .. "local n = log.n" .. b() .. "for i = 1, select('#', ...) do" ..
      b() .. "log[n + i] = (select(i, ...)) end" .. b() .. "log.n = n + select('#', ...) end",
    "local function pass(...)" .. b() .. "return ... end",
    "local function count(...)" .. b() .. "return select('#'," .. b() .. "pass(...)) end",
    "local function total(a, ...)" .. b() .. "if not a then return 0 end" .. b() ..
      "return a" .. b() .. "+ total(...) end",
    "local function check(v, n)" .. b() .. "if v % n" .. b() .. "== 2 then" .. b() .. "error(" ..
      b() .. "'check')" .. b() .. "end" .. b() .. "return v + 1 end",
    "local function step(t, i)" .. b() .. "i = i + 1" .. b() .. "local v = t[i]" .. b() ..
      "if v then" .. b() .. "return i, v end end",
    "local function upto(n)" .. b() .. "local i = 0" .. b() .. "return function()" .. b() ..
      "i = i + 1" .. b() .. "if i <= n then return i," .. b() .. "i * 2 end end end",
    "local function counter(n, i)" .. b() .. "if i < n then" .. b() .. "return i + 1, n - i end end",
    "local base = setmetatable({ none = 0, get = function(o, n)" .. b() .. "return o.x" .. b() ..
      "+ n % 3 end }, { __index = { deep = 5 } })",
    "local O = {} local function new(x, y)" .. b() .. "return setmetatable({ x = x % 9973," .. b() ..
      "y = y % 9973 }, O) end",
    "function base.add(o, n)" .. b() .. "return new(o.x" .. b() .. "+ n, o.y) end",
    "function O.__index(o, k)" .. b() .. "if k == 'twice' then" .. b() .. "return o.x * 2 end" ..
      b() .. "return base[k] end",
    "function O.__newindex(o, k, v)" .. b() .. "if k == 'other' then" .. b() .. "o.y = v" .. b() ..
      "else rawset(o, k, v) end end",
    "function O.__add(a, b)" .. b() .. "if type(b) == 'number' then" .. b() .. "return new(a.x" ..
      b() .. "+ b, a.y) end" .. b() .. "return new(a.x + b.x," .. b() .. "a.y + b.y) end",
    "function O.__sub(a, b)" .. b() .. "if type(b) == 'number' then" .. b() .. "return new(a.x" ..
      b() .. "- b, a.y) end" .. b() .. "return new(a.x - b.x," .. b() .. "a.y) end",
    "function O.__concat(a, b)" .. b() .. "return floor(a.x) .. " .. b() .. "b end",
    "function O.__eq(a, b)" .. b() .. "return a.x == b.x and" .. b() .. "a.y == b.y end",
    "function O.__lt(a, b)" .. b() .. "return a.x" .. b() .. "< b.x end",
    "function O.__le(a, b)" .. b() .. "return" .. b() .. "a.x <= b.x end",
    "function O.__call(o, n)" .. b() .. "return o.y" .. b() .. "- n end",
    "local sized = newproxy(true) getmetatable(sized).__len = function()" .. b() .. "return" .. b() ..
      "acc % 7 end",
    "local o0, o1, s0 = new(3, 4), new(1.5, -2), 'start'",
    "local t0, t1 = { 1, 2, 3, 4, 5, 6, 7, 8 }, { 1.5, 0, -3, 1e9, 5, 8, 2, 0.1 }",
    "local n0, n1 = " .. self:rnd(100) .. ", " .. self:rnd(8) / 4,
  }
  if self.has_ffi then
    text[#text + 1] = "local i64, u64 = ffi.typeof('int64_t'), ffi.typeof('uint64_t')"
    text[#text + 1] = "local ints = ffi.new('int32_t[8]', {5, 3, 9, 1})"
  end
  for _, name in ipairs({ "o0", "o1" }) do self:declare("obj", name) end
  for _, name in ipairs({ "t0", "t1" }) do self:declare("tab", name) end
  for _, name in ipairs({ "n0", "n1", "acc" }) do self:declare("set", name) end
  self:declare("str", "s0")
  self.functions = { { name = "pass", params = 1, vararg = true, many = true, cost = 5 } }
  return table.concat(text, "\n") .. "\n"
end

-- A program ------------------------------------------------------------------

-- A function of some variables and hot loops that work on them.
function G:phase(name)
  self:layout()
  local mark = self:mark()
  self:declare("set", "round")
  local list = {}
  for i = 1, 2 do list[i] = self:declaration() end
  for _ = 1, self:rnd(3) do
    self:layout()
    list[#list + 1] = self:hot(4)
  end
  list[#list + 1] = "return " .. self:var("num") .. "," .. self:b() .. self:var("num")
  self:release(mark)
  return "local function " .. name .. "(round)" .. self:b() .. self:join(list) .. "end\n"
end

-- Functions that call each other, then phases that use them: hot loops, each
-- of which is run several times since the second run meets the traces of the
-- first one.
function G.program(seed, has_ffi)
  local self = G.new(seed, has_ffi, 30000)
  local text = { self:prelude() }
  for i = 1, 2 + self:rnd(4) do
    self.limit = 200
    self.work = 0
    text[#text + 1] = self:definition("f" .. i, 1 + self:rnd(2)) .. self:s()
  end
  local phases = 1 + self:rnd(3)
  for i = 1, phases do
    self.limit, self.work = 30000, 0
    text[#text + 1] = self:phase("phase" .. i)
  end
  for round = 1, 1 + self:rnd(2) do
    for i = 1, phases do
      text[#text + 1] = "out(pcall(phase" .. i .. ", " .. round .. "))\n"
      if self:once(3) then text[#text + 1] = "tick()\n" end
    end
  end
  text[#text + 1] = "out(acc, n0, n1, s0, type(kept), o0.x, o0.y, unpack(t0))\n"
  return table.concat(text)
end

return G
