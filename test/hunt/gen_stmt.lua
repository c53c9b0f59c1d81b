-- Makes random Lua programs: statements. Adds methods to the generator.

local G = require("gen")

-- Text of several statements.
function G:join(list)
  local out = {}
  for i, text in ipairs(list) do
    out[#out + 1] = text
    out[#out + 1] = i < #list and self:s() or " "
  end
  return table.concat(out)
end

-- A block of n statements in a scope of its own; before and after are more of
-- them, the latter made when all variables of the block are known.
function G:block(n, depth, before, after)
  local mark = self:mark()
  local list = { before }
  for _ = 1, n do list[#list + 1] = self:statement(depth) end
  if after then list[#list + 1] = after(self) end
  self:release(mark)
  return self:join(list)
end

-- The body of a loop of n turns: costs are so many times higher.
function G:body(n, depth, before, after)
  local times, loops, breakable = self.times, self.loops, self.breakable
  self.times, self.loops, self.breakable = times * n, loops + 1, true
  local text = self:block(1 + self:rnd(loops == 0 and 5 or 3), depth, before, after)
  self.times, self.loops, self.breakable = times, loops, breakable
  return text
end

-- How often a loop is to run: as often as can be afforded.
function G:turns()
  local n = self.loops == 0 and 30 + self:rnd(60) or self:pick({ 0, 1, 2, 3, 5, 8, 13, 30 })
  while n > 1 and not self:afford(n * 25) do n = math.floor(n / 2) end
  return n
end

-- Simple statements -----------------------------------------------------------

local function declare_number(self)
  local expr = self:once(3) and self:num(2) or self:bounded(3)
  return "local " .. self:declare("set", self:name("n")) .. " =" .. self:b() .. expr
end

local function declare_string(self)
  local expr = self:str(2)
  return "local " .. self:declare("str", self:name("s")) .. " =" .. self:b() .. expr
end

local function declare_table(self)
  self:charge(8)
  local list = {}
  for i = 1, 8 do list[i] = self:num(0) end
  if self:once(3) then list[self:rnd(8)] = self:call(1, true) end
  return "local " .. self:declare("tab", self:name("t")) .. " = {" .. self:b() ..
         table.concat(list, "," .. self:b()) .. "}"
end

local function declare_object(self)
  self:charge(8)
  local expr = "new(" .. self:num(2) .. "," .. self:b() .. self:num(1) .. ")"
  return "local " .. self:declare("obj", self:name("o")) .. " = " .. expr
end

local function assign(self)
  return self:var("set") .. " =" .. self:b() .. self:bounded(3)
end

local function accumulate(self)
  return "acc = (acc * " .. self:pick({ 3, 31, 17 }) .. self:b() .. "+ " .. self:num(3) ..
         ")" .. self:b() .. "% 1000003"
end

local function assign_string(self)
  if #self.scope.str == 0 then return accumulate(self) end
  local s = self:var("str")
  return s .. " = sub(" .. s .. self:b() .. ".. " .. self:str(1) .. ", -10)"
end

-- All at once, some of them exchanged; a call may give the last ones.
local function assign_many(self)
  local a, b = self:var("set"), self:var("set")
  if a == b then return a .. " = " .. self:bounded(2) end
  if self:once(2) then
    return a .. ", " .. b .. " =" .. self:b() .. self:bounded(1) .. "," .. self:b() .. a
  end
  local n = self:name("n")
  local text = "local " .. n .. ", m =" .. self:b() .. self:call(2, true) .. "; " .. a ..
               ", " .. b .. " = (m or 0) % 9973," .. self:b() .. "(" .. n .. " or 1) % 9973"
  return "do " .. text .. " end"
end

-- Tables must not grow without bound, nor take indexes that are no numbers.
local function store(self)
  self:charge(3)
  return self:var("tab") .. "[floor(" .. self:num(2) .. " % 8) + 1] =" .. self:b() ..
         self:num(2) .. " % 9973"
end

local function store_field(self)
  if #self.scope.obj == 0 then return store(self) end
  self:charge(5)
  return self:var("obj") .. "." .. self:pick({ "x", "y", "extra", "other" }) .. " =" ..
         self:b() .. self:num(2) .. " % 9973"
end

local function assign_object(self)
  if #self.scope.obj == 0 then return store(self) end
  self:charge(10)
  local o = self:var("obj")
  return o .. " = " .. o .. self:b() .. self:pick({ "+ ", "- " }) .. self:b() ..
         self:pick({ self:var("obj"), self:num(1) })
end

local function observe(self)
  self:charge(3)
  local kind = self:rnd(4)
  if kind == 1 then return "out(" .. self:b() .. self:str(2) .. ")" end
  if kind == 2 then return "out(" .. self:bool(2) .. ")" end
  return "out(" .. self:b() .. self:var("num") .. "," .. self:b() .. self:num(2) .. ")"
end

local function discard(self)
  return "local _ =" .. self:b() .. self:call(2, true)
end

-- Control ---------------------------------------------------------------------

local function branch(self, depth)
  local text = "if " .. (self:once(2) and self:rare() or self:bool(2)) .. self:b() .. "then " ..
               self:block(self:rnd(2), depth - 1)
  if self:once(3) then
    text = text .. "elseif " .. self:bool(1) .. " then" .. self:b() .. self:block(1, depth - 1)
  end
  if self:once(2) then text = text .. "else" .. self:b() .. self:block(self:rnd(2), depth - 1) end
  return text .. "end"
end

local function leave(self)
  if not self.breakable then return observe(self) end
  return "if " .. self:rare() .. self:b() .. "then break end"
end

local function raise(self)
  return "if acc % 97 == " .. self:rnd(97) .. " then error(" .. self:b() ..
         self:pick({ "'rare'", "acc", self:var("tab"), "'r' .. acc, 0" }) .. ") end"
end

local function numeric_for(self, depth)
  local n, i = self:turns(), self:name("i")
  local first, last, step = self:pick({ 1, 0, -2, 5 }), nil, self:pick({ 1, 1, 1, 2, -1, 0.5, 3 })
  last = first + (n - 1) * step
  local mark = self:mark()
  self:declare("num", i)
  local bound = self:once(3) and "(#" .. self:var("tab") .. " >= 0 and " .. last .. " or 0)" or last
  local text = "for " .. i .. " = " .. first .. "," .. self:b() .. bound ..
               (step == 1 and "" or "," .. self:b() .. step) .. self:b() .. "do" .. self:b() ..
               self:body(n, depth - 1)
  self:release(mark)
  return text .. "end"
end

local function while_loop(self, depth)
  local n, i = self:turns(), self:name("w")
  local mark = self:mark()
  self:declare("num", i)
  local before = self:once(2) and i .. " = " .. i .. " + 1" or
                 i .. " = " .. i .. self:b() .. "+ 1" .. self:s() .. accumulate(self)
  local cond = i .. " < " .. n
  if self:once(3) then cond = cond .. self:b() .. "and " .. self:bool(1) end
  local text = "local " .. i .. " = 0" .. self:s() .. "while " .. cond .. self:b() .. "do" ..
               self:b() .. self:body(n, depth - 1, before)
  self:release(mark)
  return "do " .. text .. "end end"
end

-- The condition sees the body's variables, and may be where upvalues close.
local function repeat_loop(self, depth)
  local n, i, last, get = self:turns(), self:name("r"), self:name("l"), self:name("get")
  local mark = self:mark()
  self:declare("num", i)
  local closes = self:once(4)
  local before = i .. " = " .. i .. " + 1" .. self:s() .. "local " .. last .. " =" .. self:b() ..
                 self:num(2)
  local text = self:body(n, depth - 1, before, function()
    if not closes then return "acc = (acc + " .. last .. ") % 1000003" end
    return "local function " .. get .. "() " .. last .. " = " .. last .. self:b() .. "+ 1" ..
           self:s() .. "return " .. last .. " end"
  end)
  local cond = i .. " >= " .. math.max(n, 1) .. self:b() .. "or " ..
               (closes and get .. "()" or last) .. self:b() .. "% 101 == " .. self:rnd(101)
  self:release(mark)
  return "do local " .. i .. " = 0" .. self:s() .. "repeat" .. self:b() .. text .. "until " ..
         cond .. " end"
end

-- Of what pairs() gives, only what does not depend on the order may be seen.
local function pairs_loop(self)
  local k, v, sum = self:name("k"), self:name("v"), self:name("n")
  local n = self:pick({ 8, 8, 20 })
  local tab = n == 20 and "hash" or self:var("tab")
  local iter = self:pick({ "pairs(" .. tab .. ")", "next, " .. tab, "pairs(" .. tab .. ")" })
  local mark = self:mark()
  self:declare("num", v)
  self:charge(n * 12)
  local body = sum .. " = (" .. sum .. " + floor(" .. v .. ")" .. self:b() .. "* 3" .. self:b() ..
               "+ #tostring(" .. k .. ")) % 1000003"
  if self:once(2) then
    body = "if " .. v .. " % 3 == 1 then" .. self:b() .. body .. self:b() .. "else " .. sum ..
           " = (" .. sum .. " + " .. "1) % 1000003 end"
  end
  if self:once(3) then -- An inner one, of which the compiler makes a root trace.
    body = body .. self:s() .. "for _, w in pairs(hash) do" .. self:b() .. sum .. " = (" .. sum ..
           self:b() .. "+ w) % 1000003 end"
    self:charge(n * 60)
  end
  self:release(mark)
  return "local " .. self:declare("set", sum) .. " = 0" .. self:s() .. "for " .. k .. ", " .. v ..
         " in " .. iter .. self:b() .. "do" .. self:b() .. body .. " end"
end

local function generic_for(self, depth)
  local i, v = self:name("i"), self:name("v")
  local n = 8
  local iter = self:pick({ 1, 2, 3, 3, 4, 5, 5, 5 })
  if iter >= 4 then n = self:turns() end
  iter = ({ "ipairs(" .. self:var("tab") .. ")", "ipairs(" .. self:var("tab") .. ")",
    "step, " .. self:var("tab") .. ", 0", "upto(" .. n .. ")", "counter, " .. n .. ", 0" })[iter]
  local mark = self:mark()
  self:declare("num", i)
  self:declare("num", v)
  self:charge(n * 5)
  local text = "for " .. i .. ", " .. v .. " in " .. self:b() .. iter .. self:b() .. "do" ..
               self:b() .. self:body(n, depth - 1)
  self:release(mark)
  return text .. "end"
end

-- The label ends the loop's body.
local function continue_loop(self, depth)
  local n, i, label = self:turns(), self:name("i"), self:name("next")
  local mark = self:mark()
  self:declare("num", i)
  local body = self:body(n, depth - 1, "if " .. self:rare() .. " then goto " .. label .. " end")
  self:release(mark)
  return "for " .. i .. " = 1, " .. n .. " do" .. self:b() .. "do " .. body .. "end" .. self:b() ..
         "::" .. label .. ":: end"
end

local function scope(self, depth)
  return "do" .. self:b() .. self:block(self:rnd(3), depth - 1) .. "end"
end

local simple = { 8, declare_number, 3, declare_string, 2, declare_table, 2, declare_object,
  6, assign, 8, accumulate, 2, assign_string, 2, assign_many, 4, store, 2, store_field,
  2, assign_object, 5, observe, 1, discard, 3, leave, 1, raise }
local compound = { 8, branch, 5, numeric_for, 2, while_loop, 3, repeat_loop, 4, pairs_loop,
  3, generic_for, 2, continue_loop, 1, scope }

local declarations = { 3, declare_number, 1, declare_string, 1, declare_table, 1, declare_object }
local loops = { 5, numeric_for, 2, while_loop, 2, repeat_loop, 3, generic_for, 2, continue_loop }

function G:declaration()
  return self:choose(declarations)
end

-- A loop that is to get hot.
function G:hot(depth)
  return self:choose(loops, depth)
end

-- A statement; depth is how many more may be around others.
function G:statement(depth)
  local n = self:rnd(10)
  if depth > 0 and self.loops < 3 and self:afford(60) then
    if n <= 4 then return self:choose(compound, depth) end
    if n <= 6 then return self:choose(self.shapes, depth) end
  end
  return self:choose(simple, depth)
end

return G
