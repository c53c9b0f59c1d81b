-- Stops where there is something to be seen: by the attempt to remove a file
-- whose name tells what the Lua stack is, as debug.getinfo has it.

if arg[1] ~= "jit" then jit.off() end
package.cpath = arg[2]
local cbench = require("cbench")

-- Functions from the one on that has called tell, as "line where it is defined:
-- line where it is" or "C"; behind it, those of coroutines that have resumed.
local resumers = {}
local function tell(name)
  local out = {}
  local function add(co, level)
    while true do
      local info
      if co then info = debug.getinfo(co, level, "Sl")
      else info = debug.getinfo(level + 1, "Sl") end
      if not info then break end
      out[#out + 1] = info.what == "C" and "C" or
                      info.linedefined .. ":" .. info.currentline
      level = level + 1
    end
  end
  add(nil, 2)
  for i = #resumers, 1, -1 do
    if resumers[i] then add(resumers[i], 0) end
  end
  os.remove("mark:" .. name .. " " .. table.concat(out, " "))
end

local function resume(f, ...)
  resumers[#resumers + 1] = coroutine.running() or false
  local co = coroutine.create(f)
  local r = coroutine.resume(co, ...)
  resumers[#resumers] = nil
  return r
end

-- Frames of all kinds.
local function plain(n)
  tell("plain")
  return n
end
local function tail(n) return plain(n) end
local function vararg(...)
  local n = select("#", ...)
  tail(n)
  return n
end
vararg(1, 2, 3)
pcall(function() local x = vararg() return x end)
pcall(pcall, pcall, function() tell("pcalls") return 1 end)
xpcall(function() error("x") end, function() tell("handler") return 1 end);
("abc"):gsub("b", function() tell("gsub") return "x" end)
local once
table.sort({3, 1, 2}, function(a, b)
  if not once then once = true tell("sort") end
  return a < b
end)
local mt = {
  __index = function(t, k) tell("index") return 1 end,
  __add = function() tell("add") return 1 end,
  __lt = function() tell("lt") return true end,
  __concat = function() tell("concat") return "x" end,
  __call = function() tell("call") return 1 end,
  __tostring = function() tell("tostring") return "x" end,
}
local o, p = setmetatable({}, mt), setmetatable({}, mt)
local x = o.x
x = o + 1
x = o < p
x = "a" .. "b" .. o .. "c"
x = o(1)
x = tostring(o)
x = ("%s"):format(o)
for _ in function(_, i) if not i then tell("iterator") return 1 end end do end
debug.sethook(function() debug.sethook() tell("hook") end, "l")
x = 1
x = 2
cbench.call(plain, 1)
cbench.pcall(plain, 1)
cbench.cpcall(plain, 1)
local function collected()
  tell("gc")
end
getmetatable(newproxy(true)).__gc = collected
collectgarbage()

-- Coroutines in coroutines, with the resumers' stacks. Of the main one, which is
-- behind them, nothing can be told.
local function nest(n)
  if n == 0 then tell("co-nested") return 1 end
  local r = resume(nest, n - 1)
  return r
end
nest(3)
local co = coroutine.create(function()
  coroutine.yield(1)
  tell("co-resumed")
  pcall(function()
    coroutine.yield(2)
    tell("co-yielded-through-pcall")
  end)
end)
for i = 1, 3 do coroutine.resume(co) end

-- Calls of C and Lua in turn, 70 deep.
local ways = {cbench.call, cbench.pcall, cbench.cpcall, cbench.resume}
local function cross(n)
  if n == 0 then os.remove("mark:crossings") return 1 end
  ways[n % 4 + 1](cross, n - 1)
  return n
end
cross(70)

-- More frames than are taken.
local function deep(n)
  if n == 0 then os.remove("mark:deep") return 0 end
  return 1 + deep(n - 1)
end
deep(400)
resume(deep, 300)
