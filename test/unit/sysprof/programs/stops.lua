-- Stops itself at known places, and tells each time what its stack is. A
-- function's name is in the comment of the line where it is defined.

if jit and arg[1] ~= "jit" then jit.off() end

local source = {}
local stopline
for line in io.lines(arg[0]) do
  source[#source + 1] = line
  if line:find("kill %-STOP") then stopline = #source end
end

local function stop() --> stop
  local level = 1
  print("STOP")
  while true do
    local info = debug.getinfo(level, "Slf")
    if not info then break end
    if info.what == "C" then
      print("C")
    else
      local name = ""
      if info.source == "@" .. arg[0] and info.what == "Lua" then
        name = source[info.linedefined]:match("%-%->%s*(%S+)") or ""
      end
      print(("L\t%s\t%d\t%d\t%s"):format(info.source, info.linedefined,
                                         level == 1 and stopline or
                                           info.currentline, name))
    end
    level = level + 1
  end
  print("END")
  io.stdout:flush()
  os.execute("kill -STOP $PPID")
end

local M = {}
local up
local class = {inner = {}}

function M.field(n) --> M.field
  stop()
  return n
end

function M:method() --> M.method
  local r = M.field(1)
  return r
end

function global_function(...) --> global_function
  local a, b = ..., 2
  M:method(a, b)
  return a
end

up = function() --> up
  local x = global_function(1, 2, 3)
  return x
end

local t = {
  constructed = function() --> constructed
    local x = up()
    return x
  end,
}

class.inner.deep = function() --> inner.deep
  local x = t.constructed()
  return x
end

local function tail() --> tail
  return stop()
end

local function recurse(n) --> recurse
  if n == 0 then
    stop()
  else
    recurse(n - 1)
  end
  return n
end

local function vararg(...) --> vararg
  local n = select("#", ...)
  recurse(n)
  return n
end

-- Plain, and nameless functions.
M.field(1)
class.inner.deep()
tail()
vararg(1, 2, 3)
local function call(f, ...) --> call
  local r = f(...)
  return r
end
call(function(x)
  stop()
  return x
end, 1)

-- Through C functions.
local r = pcall(function()
  up()
end)
r = xpcall(function() up() return 1 end, debug.traceback)
r = ("abc"):gsub("b", function()
  stop()
  return "x"
end)
local stopped = false
table.sort({3, 2, 1}, function(a, b)
  if not stopped then
    stopped = true
    stop()
  end
  return a < b
end)
pcall(pcall, pcall, stop)

-- Metamethods.
local mt = {
  __add = function(a, b) --> __add
    stop()
    return 1
  end,
  __index = function(tab, key) --> __index
    local v = vararg()
    return v
  end,
  __lt = function(a, b) --> __lt
    stop()
    return true
  end,
}
local o, p = setmetatable({}, mt), setmetatable({}, mt)
local s = o + p
s = o.field
if o < p then s = 1 end

-- Iterators and coroutines.
for _ in function(_, i) if not i then stop() return 1 end end do end
local co = coroutine.wrap(function()
  vararg(1)
  coroutine.yield()
  pcall(up)
end)
co()
co()

-- Other chunks: from a string, stripped, and many lines.
loadstring("local stop = ...\nlocal function inner() --\n  stop()\n  return\n" ..
           "end\ninner()\n", "=string")(stop)
local stripped = loadstring(string.dump(loadstring(
  "local stop = ...\nlocal function f()\n  stop()\n  return 1\nend\nf()\n",
  "@whole.lua"), true), "=stripped")
stripped(stop)
for _, lines in ipairs{300, 70000} do
  loadstring("local stop = ...\n" .. ("\n"):rep(lines) ..
             "local function far()\nstop()\nreturn\nend\nfar()\n",
             "=lines")(stop)
end

-- The functions of a module whose chunk is gone.
package.loaded["a.module"] = loadstring([[
local mod = {sub = {}}
function mod.run(stop)
  stop()
  return 1
end
function mod.sub.go(stop)
  stop()
  return 1
end
return mod
]], "@module.lua")()
collectgarbage()
collectgarbage()
require("a.module").run(stop)
require("a.module").sub.go(stop)
print("DONE")
