-- Orders from outside, by ljprof control.
-- Arguments: parser, scratch, a program that runs Lua, ljprof.

local P = require("process")
local Checks = require("checks")
local memprof = misc and misc.memprof or require("memprof")

local parser, lua, ljprof = arg[1], arg[3], arg[4]
local C = P.C
local dir = ("%s/control-%d"):format(arg[2], C.getpid())
local path = dir .. "/a.ljm"
local ok, eq = Checks.ok, Checks.eq

-- Sockets are in a folder of the test's own, by what all its programs inherit.
require("ffi").cdef("int setenv(const char *name, const char *value, int replace);")
local run = ("%s/run-%d"):format(arg[2], C.getpid())
os.execute(("mkdir -p -m 700 '%s'"):format(run))
C.setenv("XDG_RUNTIME_DIR", run, 1)

local function clean()
  Checks.clean(dir)
end

-- What ljprof prints, and its exit status.
local function order(pid, what, environment)
  local s = P.output(("(%s %s control %d %s; echo $?)"):format(environment or "", P.quote(ljprof), pid, what))
  local text, status = s:match("^(.-)(%d+)\n$")
  return text, tonumber(status)
end

-- The answer to an order must be this, in one line for one VM.
local function expect(pid, what, want, status, file)
  local text, got = order(pid, what)
  eq(text, ("%s: %s\n"):format(want, file or path), what)
  eq(got, status, what .. ": status")
end

-- A program ends with its parent: a test that fails leaves none behind.
local dies = "require('ffi').cdef('int prctl(int what, long how);') require('ffi').C.prctl(1, 9) "

-- A program that records, by LJPROF, and prints when it does.
local function spawn(options, code)
  P.put(dir .. "/program.lua", dies .. "io.write('x') io.flush() " .. code)
  local own = misc and "" or "export LUA_INIT=\"require 'memprof.auto'\"; "
  local command = ("%sLJPROF=memprof:%s,%s exec %s %s/program.lua"):format(own, path, options, P.quote(lua), dir)
  local pid, fd = P.spawn({ "/bin/sh", "-c", command })
  local buf = require("ffi").new("char[1]")
  eq(P.read(fd, buf, 1), 1, "the program runs")
  return pid, fd
end

local busy = [[
require("ffi").C.prctl(1, 9)
local function tables() local t for _ = 1, 50 do t = {t} end kept = t end
while true do tables() end
]]

-- What is read of a recording must have been closed.
local function whole(file, segments)
  local f = assert(io.popen(("%s %s 2>&1 >%s/report"):format(P.quote(parser), P.quote(file), dir)))
  eq(f:read("*a"), "", file .. ": warnings")
  f:close()
  local s = P.get(dir .. "/report")
  -- The newest segment may have begun a moment ago.
  ok(segments or s:find("(tables)", 1, true), "%s: no tables: %s", file, s)
end

local function test_orders(options)
  clean()
  local pid = spawn("control," .. options, busy)
  expect(pid, "status", "recording", 0)
  expect(pid, "flush", "recording", 0)
  expect(pid, "start", "recording, failed: it is recording already", 1)
  expect(pid, "stop", "stopped", 0)
  local segments = options:find("keep", 1, true)
  whole(path, segments)
  expect(pid, "status", "stopped", 0)
  expect(pid, "stop", "stopped, failed: it is not recording", 1)
  expect(pid, "flush", "stopped, failed: it is not recording", 1)
  local before = P.get(path)
  expect(pid, "start", "recording", 0)
  eq(P.get(path .. ".old"), before, "the recording before")
  for _ = 1, 20 do
    expect(pid, "flush", "recording", 0)
  end
  expect(pid, "stop", "stopped", 0)
  whole(path, segments)
  eq(P.kill(pid), 9, "its end")
end

-- The first line of what the parser says about files, and its exit status.
local function report(files)
  local s = P.output(("(%s %s 2>&1; echo $?)"):format(P.quote(parser), files))
  return s:match("^[^\n]*"), tonumber(s:match("(%d+)\n$")), s
end

-- Heap dumps by orders: numbered, joined with the recording if there is one.
local function test_dump(options)
  clean()
  local pid = spawn("control," .. options, "local function mark() return {id = {}} end kept = mark() " .. busy)
  local function dump(state, file)
    expect(pid, "dump", state, 0, ("%s, dump: %s"):format(path, file))
    local head, status = report(file)
    eq(head, "HEAP DUMP", file)
    eq(status, 0, file .. ": status")
  end
  dump("recording", dir .. "/a.ljd")
  dump("recording", dir .. "/a.2.ljd")
  expect(pid, "stop", "stopped", 0, ("%s, dump: %s/a.2.ljd"):format(path, dir))
  local _, status, all = report(path .. " " .. dir .. "/a.2.ljd")
  eq(status, 0, "joined")
  ok(all:find("WHO KEEPS WHAT WHO MADE", 1, true), "joined: %s", all)
  dump("stopped", dir .. "/a.3.ljd")
  _, status, all = report(path .. " " .. dir .. "/a.3.ljd")
  eq(status, 2, "without a recording")
  ok(all:find("has no record of the heap dump", 1, true), "without a recording: %s", all)
  P.kill(pid)
end

-- A dump that cannot be written harms neither the program nor its recording.
local function test_nodump()
  clean()
  local pid = spawn("control", busy)
  os.execute(("mkdir '%s/a.ljd'"):format(dir))
  local text, status = order(pid, "dump")
  ok(text:find("recording, failed: .*" .. "a.ljm\n$"), "in the place of a folder: %s", text)
  eq(status, 1, "in the place of a folder")
  expect(pid, "dump", "recording", 0, ("%s, dump: %s/a.2.ljd"):format(path, dir))
  expect(pid, "stop", "stopped", 0, ("%s, dump: %s/a.2.ljd"):format(path, dir))
  whole(path)
  eq(P.kill(pid), 9, "its end")
end

-- A loop that allocates nothing executes an order when it does again. The
-- program says when it is there; the JIT compiler allocates at any time.
local function test_pending()
  clean()
  local pid, fd = spawn("control", [[
jit.off()
local name, x = arg[0] .. ".go", 0
local ffi = require("ffi")
ffi.cdef("int access(const char *, int); int write(int, const void *, size_t);")
ffi.C.access(name, 0)
ffi.C.write(1, "y", 1)
repeat for i = 1, 1000 do x = x + i % 7 end until ffi.C.access(name, 0) == 0
while true do local t = {{}} end]])
  eq(P.read(fd, require("ffi").new("char[1]"), 1), 1, "it is in the loop")
  expect(pid, "stop", "recording, pending stop", 1)
  expect(pid, "status", "recording, pending stop", 1)
  expect(pid, "flush", "recording, pending stop", 1)
  P.put(dir .. "/program.lua.go", "")
  local text
  repeat
    text = order(pid, "status")
  until not text:find("pending", 1, true)
  eq(text, ("stopped: %s\n"):format(path), "after that")
  P.kill(pid)
end

-- What cannot be reached, and orders that are none.
local function test_refused()
  clean()
  local pid = spawn("stack=8", busy)
  local text, status = order(pid, "stop")
  ok(text:find("has no socket for control", 1, true), "without the option: %s", text)
  eq(status, 2, "without the option")
  P.kill(pid)
  text, status = order(pid, "stop")
  ok(text:find("there is no process", 1, true) or text:find("no socket", 1, true), "of a dead one: %s", text)
  eq(status, 2, "of a dead one")
  text, status = order(pid, "stp")
  ok(text:find("did you mean stop?", 1, true), "stp: %s", text)
  eq(status, 64, "stp")
end

-- The folder and the socket are nobody else's, and the socket goes away.
local function test_private()
  clean()
  P.put(dir .. "/end.lua", ([[
local memprof = misc and misc.memprof or require "memprof"
assert(memprof.start("%s", {control = true}))
os.execute("stat -c %%a '%s/ljprof' '%s/ljprof/'*.sock")
]]):format(path, run, run))
  -- What a killed one has left goes away.
  local left = P.output(("ls -A '%s/ljprof' | wc -l"):format(run))
  ok(tonumber(left) > 0, "no socket of the killed programs")
  eq(P.output(("%s %s/end.lua"):format(P.quote(lua), dir)), "700\n600\n", "modes")
  eq(P.output(("ls -A '%s/ljprof'"):format(run)), "", "after the exit")
  os.execute(("chmod 755 '%s/ljprof'"):format(run))
  P.output(("%s %s/end.lua"):format(P.quote(lua), dir))
  eq(P.output(("ls -A '%s/ljprof'"):format(run)), "", "a folder that others can enter")
  os.execute(("rmdir '%s/ljprof'"):format(run))
end

-- The program's own start and stop take over from an order.
local function test_own()
  clean()
  assert(memprof.start(path, { control = true }))
  -- The order is executed while the shell's output is read.
  local text = order(C.getpid(), "status")
  eq(text, ("recording: %s\n"):format(path), "own status")
  order(C.getpid(), "stop")
  local _ = { {} }
  eq(memprof.is_running(), false, "running after stop")
  eq(memprof.stop(), false, "stop after stop")
  assert(memprof.start(dir .. "/b.ljm", { control = true }))
  expect(C.getpid(), "status", "recording", 0, dir .. "/b.ljm")
  eq(memprof.stop(), true, "own stop")
  text = order(C.getpid(), "status")
  eq(text, "no VM is recorded any more\n", "after the own stop")
  ok(not pcall(memprof.start, path, { control = 1 }), "control = 1")
  ok(not pcall(memprof.start, nil, { control = true, fd = 2 }), "control of a descriptor")
end

-- A child of fork has a socket of its own, with follow_fork.
local function test_child()
  clean()
  local pid = spawn(
    "control,follow_fork",
    [[
local ffi = require("ffi")
ffi.cdef("int fork(void); int getpid(void);")
local child = ffi.C.fork()
if child ~= 0 then
  local f = io.open(arg[0] .. ".tmp", "w")
  f:write(child)
  f:close()
  os.rename(arg[0] .. ".tmp", arg[0] .. ".child")
end
]] .. busy
  )
  local child
  repeat
    child = tonumber((P.get(dir .. "/program.lua.child")))
  until child
  local file = path .. "." .. child
  repeat until P.get(file)
  local text
  repeat
    text = order(child, "status")
  until not text:find("no socket", 1, true)
  expect(child, "dump", "recording", 0, ("%s, dump: %s.ljd"):format(file, file))
  eq(report(file .. ".ljd"), "HEAP DUMP", "the child's dump")
  expect(child, "stop", "stopped", 0, ("%s, dump: %s.ljd"):format(file, file))
  whole(file)
  expect(pid, "status", "recording", 0)
  expect(pid, "stop", "stopped", 0)
  whole(path)
  C.kill(child, 9)
  P.kill(pid)
end

for _, options in ipairs({ "stack=8", "tail", "thread", "sample=512", "keep=1M" }) do
  test_orders(options)
end
test_dump("stack=8")
test_dump("thread,dump_at_limit=1G")
test_nodump()
test_pending()
test_refused()
test_private()
test_own()
test_child()
Checks.finish(dir, run)
