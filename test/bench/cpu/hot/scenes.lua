-- Compiled loops with one hot line each, which calls one kind of function of
-- the VM or of C:
--
--   luajit scenes.lua KIND SECONDS
--
-- A scene has two more lines, which call functions that are inlined. The hot
-- line is the first, the one in the middle or the last; it is in a loop's root
-- trace, in a side trace, or in a function that calls itself. Each scene is a
-- chunk, "KIND-SHAPE-LINE", LINE being the hot one. All run for SECONDS
-- together. The collector runs between loops only: what a loop calls beside
-- compiled code is its hot line. `-` instead of KIND prints all kinds.

-- What is before a scene's functions, and its hot line. `i` is a number that
-- is another one each time, `x` the sum that is returned.
local kinds = {
  { "concat", "local text = ('x'):rep(200)", "s = text .. i" },
  { "tostring", "", "s = tostring(i + 0.5)" },
  { "tonumber", "local t = {} for k = 0, 63 do t[k] = k .. '.25e3' end", "x = x + tonumber(t[i % 64])" },
  { "format", "local format = string.format", "s = format('%d and %g', i, i / 3)" },
  { "rep", "local rep = string.rep", "s = rep('ab', i % 64 + 100)" },
  { "sub", "local text = ('abcdefgh'):rep(80)", "s = text:sub(i % 64 + 1, i % 64 + 300)" },
  { "upper", "local t = {} for k = 0, 63 do t[k] = ('ab' .. k):rep(40) end", "s = t[i % 64]:upper()" },
  { "reverse", "local t = {} for k = 0, 63 do t[k] = ('ab' .. k):rep(40) end", "s = t[i % 64]:reverse()" },
  { "table.concat", "local t, concat = {} , table.concat for k = 1, 30 do t[k] = 'v' .. k end", "s = concat(t, ',', i % 8 + 1, 30)" },
  { "buffer", "local b = require('string.buffer').new() local text = ('x'):rep(300)", "s = b:reset():put(text, i):tostring()" },
  { "constructor", "", "s = { i, 2, 3, x, k = i }" },
  { "empty", "", "s = {}" },
  { "keys", "local t, new = {}, {} for k = 0, 4095 do t[k] = 'k' .. k end", "new[t[i % 4096]] = i", "new = {}" },
  { "insert", "local t, insert = {}, table.insert", "insert(t, i)", "t = {}" },
  { "call", "ffi.cdef 'size_t strlen(const char *)' local C, text = ffi.C, ('x'):rep(2000)", "x = x + tonumber(C.strlen(text))" },
  { "copy", "local to, from = ffi.new('char[4096]'), ffi.new('char[4096]')", "ffi.copy(to, from, i % 64 + 3000)" },
  { "fill", "local to = ffi.new('char[4096]')", "ffi.fill(to, i % 64 + 3000, i)" },
  { "cdata", "local new = ffi.typeof('struct { double x, y, z[8]; }')", "s = new(i)" },
  { "math", "local sin = math.sin", "x = x + sin(i + 1e5)" },
  { "power", "", "x = x + (i + 0.5) ^ 1.37" },
  { "compare", "local t = {} for k = 0, 63 do t[k] = ('x'):rep(400) .. k end", "x = t[i % 64] < t[5] and x + 1 or x" },
  { "cheap", "", "x = x * 0.5 + i" },
}

local head = [[
local ffi = require "ffi"
local function one(y)
  return y * 0.25 + 1
end
local function two(y)
  return y - 3
end
]]

local shapes = {
  root = [[
return function(n)
  local x, s = 0
  for i = 1, n do
BODY
  end
  return x, s
end]],
  side = [[
return function(n)
  local x, s = 0
  for i = 1, n do
    if i % 8 < 3 then
      x = x + one(i)
    else
BODY
    end
    x = x + 1
  end
  return x, s
end]],
  recursive = [[
local function down(i)
  local x, s = 0
  if i % 100 == 0 then
    return x
  end
BODY
  return x + down(i - 1), s
end
return function(n)
  local x = 0
  for i = 99, n, 100 do
    x = x + down(i)
  end
  return x
end]],
}

local places = {
  "HOT\nx = x + one(i)\nx = x + two(x)",
  "x = x + one(i)\nHOT\nx = x + two(x)",
  "x = x + one(i)\nx = x + two(x)\nHOT",
}

-- The line of the first occurrence of a mark.
local function line_of(text, mark)
  return select(2, text:sub(1, text:find(mark, 1, true)):gsub("\n", "")) + 1
end

-- All scenes of a kind: functions of a number of times.
local function scenes(kind)
  local name, before, hot, again = unpack(kind)
  local list = {}
  for shape, text in pairs(shapes) do
    for _, place in ipairs(places) do
      local source = head .. before .. "\n" .. text:gsub("BODY", place)
      local chunk = ("%s-%s-%d"):format(name, shape, line_of(source, "HOT"))
      source = source:gsub("HOT", (hot:gsub("%%", "%%%%")))
      if again then -- What grows begins anew.
        source = source:gsub("return function%(n%)\n", "%0  " .. again .. "\n", 1)
        chunk = ("%s-%s-%d"):format(name, shape, line_of(source, hot))
      end
      list[#list + 1] = assert(loadstring(source, "@" .. chunk))()
    end
  end
  return list
end

local function run(kind, seconds)
  local list = scenes(kind)
  local until_ = os.clock() + seconds
  for k, scene in ipairs(list) do
    local stop = os.clock() + (until_ - os.clock()) / (#list - k + 1)
    repeat
      collectgarbage()
      collectgarbage("stop")
      scene(4000)
      collectgarbage("restart")
    until os.clock() > stop
  end
end

for _, kind in ipairs(kinds) do
  if arg[1] == "-" then
    print(kind[1])
  elseif arg[1] == kind[1] then
    run(kind, tonumber(arg[2]))
  end
end
