-- Makes random Lua programs: the core of it, and expressions. See "run" for
-- what they are for. A seed always makes the same program.
--
-- Programs end: each loop has a bound, and what a program costs is added up
-- while it is written, calls included. Where lines break is random, too: new
-- lines are what the compiler takes its additional snapshots for.
--
-- Numbers are kept from growing into infinities and what is no number: of
-- that, min(), max() and bits make one thing in the interpreter, and one or
-- the other in compiled code, as its registers happen to be.

local G = {}
G.__index = G

-- Random choices --------------------------------------------------------------

-- A whole number from 1 to n.
function G:rnd(n)
  self.state = self.state * 16807 % 2147483647
  return math.floor(self.state / 2147483647 * n) + 1
end

-- True once in n times.
function G:once(n)
  return self:rnd(n) == 1
end

function G:pick(list)
  return list[self:rnd(#list)]
end

-- Calls one of { weight, function, weight, function... }.
function G:choose(list, ...)
  local sum = 0
  for i = 1, #list, 2 do sum = sum + list[i] end
  local n = self:rnd(sum)
  for i = 1, #list, 2 do
    n = n - list[i]
    if n <= 0 then return list[i + 1](self, ...) end
  end
end

-- Layout ----------------------------------------------------------------------

-- A blank within an expression, which may be a new line.
function G:b()
  return self:rnd(100) <= self.breaks and "\n" or " "
end

-- What is between two statements.
function G:s()
  return self:rnd(100) <= self.ends and ";\n" or "; "
end

-- Draws how the next function is laid out: a statement a line, everything on
-- one line, an operand a line, or anyhow.
function G:layout()
  local style = self:rnd(5)
  self.breaks = ({ 3, 0, 85, 40, 15 })[style]
  self.ends = ({ 100, 0, 95, 50, 80 })[style]
end

-- Scopes ----------------------------------------------------------------------

local kinds = { "num", "str", "tab", "obj", "set" }

function G:name(prefix)
  self.names = self.names + 1
  return prefix .. self.names
end

-- Makes a variable known. "set" are numbers that may be assigned to.
function G:declare(kind, name)
  local list = self.scope[kind]
  list[#list + 1] = name
  if kind == "set" then self:declare("num", name) end
  return name
end

function G:mark()
  local mark = {}
  for _, kind in ipairs(kinds) do mark[kind] = #self.scope[kind] end
  return mark
end

function G:release(mark)
  for _, kind in ipairs(kinds) do
    local list = self.scope[kind]
    for i = #list, mark[kind] + 1, -1 do list[i] = nil end
  end
end

-- A variable of a kind, of those that came last if possible: others would
-- become upvalues, or be out of reach of what is going on.
function G:var(kind)
  local list = self.scope[kind]
  local n = #list
  if n > 6 and not self:once(4) then return list[n - self:rnd(6) + 1] end
  return list[self:rnd(n)]
end

-- Costs -----------------------------------------------------------------------

-- True if something that costs n may be done here, as often as loops do it.
function G:afford(n)
  return self.work + n * self.times <= self.limit
end

function G:charge(n)
  self.work = self.work + n * self.times
end

-- Numbers ---------------------------------------------------------------------

local constants = { "0", "1", "2", "3", "7", "10", "0.5", "1.25", "-1", "-3", "100", "255",
  "2147483647", "4294967296", "-2147483648", "1e10", "0.1" }

local function leaf(self)
  local n = self:rnd(12)
  if n <= 8 and #self.scope.num > 0 then return self:var("num") end
  if n == 9 then return "#" .. self:var("tab") end
  if n == 10 and #self.scope.obj > 0 then return self:var("obj") .. ".x" end
  if n == 11 then return "#sized" end
  return self:pick(constants)
end

local function arith(self, d)
  local op = self:pick({ "+", "-", "*", "+", "-" })
  local right = self:num(d - 1)
  if op == "*" then right = "(" .. right .. self:b() .. "% " .. self:pick({ 7, 100, 32.5 }) .. ")" end
  return "(" .. self:num(d - 1) .. self:b() .. op .. self:b() .. right .. ")"
end

-- A number that may be kept in a variable.
function G:bounded(d)
  local n = self:rnd(4)
  if n == 1 then return self:num(d) .. self:b() .. "% 65536" end
  if n == 2 then return self:num(d) .. self:b() .. "% 2147483648 - 1073741824" end
  return self:num(d) .. self:b() .. "% 9973.5"
end

local function divide(self, d)
  local op = self:pick({ "/ 3", "% 7", "% 16", "/ 8", "% 2.5" })
  return "(" .. self:num(d - 1) .. self:b() .. op .. ")"
end

-- Bits of fractions, or of what is too large, are not the same everywhere: the
-- compiler turns the sum's bits into the sum of bits.
local function bits(self, d)
  local op = self:pick({ "band", "bor", "bxor", "lshift", "rshift", "arshift" })
  local right = op:find("shift") and self:rnd(20) or "floor(" .. self:num(d - 1) .. " % 65536)"
  return op .. "(floor(" .. self:num(d - 1) .. " % 2147483648)," .. self:b() .. right .. ")"
end

local function math1(self, d)
  local op = self:pick({ "floor", "abs", "ceil", "-", "tonumber", "bnot" })
  if op == "bnot" then return "bnot(floor(" .. self:num(d - 1) .. " % 1000))" end
  return op .. "(" .. self:num(d - 1) .. ")"
end

local function math2(self, d)
  local op = self:pick({ "max", "min" })
  return op .. "(" .. self:num(d - 1) .. "," .. self:b() .. self:num(d - 1) .. ")"
end

-- An element; often there is none.
local function element(self, d)
  return "(" .. self:var("tab") .. "[" .. self:index(d - 1) .. "]" .. self:b() .. "or " ..
         self:num(0) .. ")"
end

local function choice(self, d)
  return "(" .. self:bool(d - 1) .. self:b() .. "and " .. self:num(d - 1) .. self:b() .. "or " ..
         self:num(d - 1) .. ")"
end

local function field(self, d)
  if #self.scope.obj == 0 then return arith(self, d) end
  self:charge(2)
  return self:var("obj") .. "." .. self:pick({ "x", "y", "twice", "none", "deep" })
end

-- What metamethods and methods make of objects, as a number.
local function object(self, d)
  if #self.scope.obj == 0 then return arith(self, d) end
  self:charge(5)
  local o = self:var("obj")
  local n = self:rnd(6)
  if n == 1 then return "(" .. o .. self:b() .. "+ " .. self:num(d - 1) .. ").x" end
  if n == 2 then return "(" .. o .. self:b() .. "- " .. self:var("obj") .. ").y" end
  if n == 3 then return o .. "(" .. self:b() .. self:num(d - 1) .. ")" end
  if n == 4 then return o .. ":get(" .. self:b() .. self:num(d - 1) .. ")" end
  if n == 5 then return "(" .. o .. ":add(" .. self:num(d - 1) .. ")" .. self:b() .. "):get(1)" end
  return "#(" .. o .. self:b() .. ".. " .. self:str(0) .. ")"
end

local function string_number(self, d)
  local s = self:str(d - 1)
  local n = self:rnd(4)
  if n == 1 then return "#" .. s end
  if n == 2 then return "(byte(" .. s .. "," .. self:b() .. self:rnd(6) .. ") or 0)" end
  if n == 3 then return "(tonumber(" .. s .. ") or " .. self:num(0) .. ")" end
  return "#sub(" .. s .. "," .. self:b() .. self:rnd(4) .. ")"
end

local function varargs(self, d)
  if not self.vararg then return arith(self, d) end
  local n = self:rnd(4)
  if n == 1 then return "select('#', ...)" end
  if n == 2 then return "(select(" .. self:rnd(4) .. ",\n...) or " .. self:num(0) .. ")" end
  if n == 3 then return "#{" .. self:num(0) .. "," .. self:b() .. "...}" end
  return "((...) or " .. self:num(0) .. ")"
end

-- Arguments: n of them or, if anything goes, the last may be many.
function G:args(n, d, many)
  local args = {}
  for i = 1, n do args[i] = self:num(d) end
  if many and self:once(2) then
    args[n + 1] = self.vararg and self:once(2) and "..." or self:call(d - 1, true)
  end
  return table.concat(args, "," .. self:b())
end

-- A call of a function that was written before; many: of several results.
-- A new line before a parenthesis would be ambiguous, so it is behind it.
function G:call(d, many)
  local able = {}
  for _, f in ipairs(self.functions) do
    if self:afford(f.cost) and (not many or f.many) then able[#able + 1] = f end
  end
  local f = self:pick(able)
  if not f or d < -2 then return self:num(0) end
  self:charge(f.cost)
  return f.name .. "(" .. self:b() .. self:args(f.params, d - 1, f.vararg) .. ")"
end

-- Its first result only. As the last argument it would else be all of them.
local function one_call(self, d)
  return "(" .. self:call(d, false) .. ")"
end

-- cdata: 64 bit integers, a struct, an array.
local function cdata(self, d)
  if not self.has_ffi then return arith(self, d) end
  self:charge(3)
  local n = self:rnd(6)
  if n <= 2 then
    local op = self:pick({ "+", "-", "*", "/", "%" })
    local right = (op == "/" or op == "%") and "7LL" or "i64(" .. self:num(0) .. " % 4096)"
    return "tonumber((i64(" .. self:num(d - 1) .. " % 65536)" .. self:b() .. op .. self:b() ..
           right .. ")" .. self:b() .. "% 1000003LL)"
  end
  if n == 3 then
    return "point(" .. self:num(d - 1) .. "," .. self:b() .. self:num(d - 1) .. ").y"
  end
  if n == 4 then
    return "(point(" .. self:num(d - 1) .. ", 1)" .. self:b() .. "+ point(1, 2)).x"
  end
  if n == 5 then return "ints[" .. self:num(d - 1) .. " % 8]" end
  return "(u64(" .. self:num(0) .. " % 128)" .. self:b() .. "< u64(64) and " .. self:num(0) ..
         self:b() .. "or 1)"
end

local numbers = { 10, arith, 3, divide, 3, bits, 3, math1, 2, math2, 4, element, 3, choice, 3, field,
  3, object, 3, string_number, 3, varargs, 6, one_call, 3, cdata }

-- A number of depth d.
function G:num(d)
  self:charge(1)
  if d <= 0 then return leaf(self) end
  return self:choose(numbers, d)
end

-- An index into tables, most of which have eight elements.
function G:index(d)
  local n = self:rnd(8)
  if n <= 2 then return self:rnd(9) end
  if n == 3 then return self:num(d) .. self:b() .. "% 8 + 1" end -- It may be no integer.
  return "floor(" .. self:num(d) .. self:b() .. "% 8) + 1"
end

-- Strings and conditions ------------------------------------------------------

local words = { "'a'", "'xyz'", "'12'", "''", "'0.5'", "'-7'", "'lua'" }

-- A string, which stays short.
function G:str(d)
  self:charge(2)
  if d <= 0 or self:once(3) then
    if #self.scope.str > 0 and not self:once(3) then return self:var("str") end
    return "(" .. self:pick(words) .. ")"
  end
  local n = self:rnd(6)
  if n <= 2 then
    return "sub(" .. self:str(d - 1) .. self:b() .. ".. " .. self:num(d - 1) .. " % 100" ..
           self:b() .. ".. " .. self:str(d - 1) .. ", -12)"
  end
  if n == 3 then
    return "format(" .. self:pick({ "'%d'", "'%5.2f'", "'%s'", "'%x'" }) .. "," .. self:b() ..
           "floor(" .. self:num(d - 1) .. " % 10000))"
  end
  if n == 4 then return "upper(" .. self:b() .. self:str(d - 1) .. ")" end
  if n == 5 then return "rep(" .. self:str(d - 1) .. "," .. self:b() .. self:rnd(3) .. ")" end
  return "tostring(" .. self:num(d - 1) .. self:b() .. "% 1000)"
end

-- A comparison whose outcome is fixed up in the code behind it.
local function compare_cdata(self, d)
  self:charge(3)
  return "(i64(" .. self:num(d - 1) .. " % 9)" .. self:b() ..
         self:pick({ "<", "<=", "==", "~=", ">" }) .. self:b() .. "i64(" .. self:num(d - 1) ..
         " % 9))"
end

function G:bool(d)
  local n = self:rnd(10)
  if n <= 4 or d <= 0 then
    local op = self:pick({ "<", "<=", ">", ">=", "==", "~=" })
    return "(" .. self:num(d - 1) .. self:b() .. op .. self:b() .. self:num(d - 1) .. ")"
  end
  if n == 5 then
    return "(" .. self:str(d - 1) .. self:b() .. self:pick({ "<", "==", "<=", "~=" }) .. " " ..
           self:str(d - 1) .. ")"
  end
  if n == 10 and self.has_ffi then return compare_cdata(self, d) end
  if n == 6 then return "(not " .. self:b() .. self:bool(d - 1) .. ")" end
  if n == 7 and #self.scope.obj > 1 then
    self:charge(5)
    return "(" .. self:var("obj") .. self:b() .. self:pick({ "<", "<=", "==", "~=", ">" }) .. " " ..
           self:var("obj") .. ")"
  end
  local op = self:pick({ "and ", "or " })
  return "(" .. self:bool(d - 1) .. self:b() .. op .. self:bool(d - 1) .. ")"
end

-- A condition that is seldom true: where side exits are taken.
function G:rare()
  local n = self:pick({ 3, 5, 7, 13, 19, 31 })
  return self:var("num") .. self:b() .. "% " .. n .. " == " .. self:rnd(n) - 1
end

-- A generator. limit is how much a program may cost, in about an operation.
function G.new(seed, has_ffi, limit)
  local self = setmetatable({ state = seed * 48271 % 2147483646 + 1, names = 0, work = 0,
    times = 1, limit = limit, functions = {}, has_ffi = has_ffi, vararg = false, loops = 0,
    scope = {} }, G)
  for _ = 1, 5 do self:rnd(2) end
  for _, kind in ipairs(kinds) do self.scope[kind] = {} end
  self:layout()
  return self
end

return G
