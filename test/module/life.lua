-- The module's own life: what it hands over to, refuses, and leaves behind.
--
--   host life.lua DIRECTORY

local dir = arg[1]
os.execute("mkdir -p '" .. dir .. "'")
local decode = require("decode")
local failures, checks = 0, 0

local function ok(cond, what)
  checks = checks + 1
  if not cond then
    failures = failures + 1
    print("FAILED: " .. what)
  end
end

local function read(path)
  local f = assert(io.open(path, "rb"))
  local s = f:read("*a")
  f:close()
  return s
end

local own = misc and misc.memprof -- Of a patched VM.
local before = collectgarbage("count")
local memprof = require("memprof")
ok(memprof == require("memprof"), "a second require gives the same")
if own then
  ok(memprof == own, "a patched VM's own recorder goes first")
  package.loaded.misc, package.loaded.memprof = nil, nil
  memprof = require("memprof")
  ok(memprof ~= own, "without it, the module's")
end
ok(not memprof.is_running(), "nothing runs after require")
ok(collectgarbage("count") - before < 64, "little is kept")

-- jit.p has the mode that exact lines need.
local profile = require("jit.profile")
profile.start("fi1000", function() end)
local started, message, errno = memprof.start(dir .. "/p.ljm")
ok(started == false and message:find("jit.p", 1, true) and errno == 16, "refused beside jit.p")
started = memprof.start(dir .. "/p.ljm", {lines = "natural"})
ok(started, "natural lines go with jit.p")
ok(memprof.stop(), "and stop")
profile.stop()

-- The mode is given back: jit.p works again, and so do exact lines.
for _ = 1, 3 do
  ok(memprof.start(dir .. "/p.ljm"), "start")
  ok(memprof.stop(), "stop")
  profile.start("li1000", function() end)
  profile.stop()
end

-- A coroutine of another kind than the one that asked first.
ok(coroutine.wrap(function()
  local started = memprof.start(dir .. "/co.ljm", {stack = 8})
  local t = {}
  for i = 1, 1000 do t[i] = {} end
  return started and memprof.stop()
end)(), "in a coroutine")
local s = decode.list(read(dir .. "/co.ljm"))
ok(#s > 0 or next(s), "which is read")

-- Dumps by a child process: the first is collected by a call, the last one by
-- lua_close(), after its own file is there.
local function ended(handle)
  local state, message
  repeat
    os.execute("sleep 0.01")
    state, message = handle:status()
  until state ~= "running"
  return state, message
end

local heap, why = memprof.dump(dir .. "/h.ljd", {fork = true})
ok(heap and ended(heap) == "done", "a child dumps: " .. tostring(why))
ok(memprof.dump(dir .. "/i.ljd"), "so does the process")
ok(math.abs(#read(dir .. "/h.ljd") - #read(dir .. "/i.ljd")) < 20000, "nearly the same")
local state, message = ended(assert(memprof.dump("/dev/full", {fork = true})))
ok(state == nil and message == "/dev/full: No space left on device", "a full disk")
assert(memprof.dump(dir .. "/j.ljd", {fork = true}))

print(checks .. " checks, " .. failures .. " failures")
-- lua_close() ends this one whole; who runs this looks at it.
assert(memprof.start(dir .. "/close.ljm"))
if failures > 0 then os.exit(1) end
