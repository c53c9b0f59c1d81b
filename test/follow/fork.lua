-- Child processes that have a recording of their own: follow_fork.
-- Arguments: parser, scratch, a program that runs Lua.

local ffi = require("ffi")
local P = require("process")
local Checks = require("checks")
local memprof = misc and misc.memprof or require("memprof")

local parser, lua = arg[1], arg[3]
local dir = ("%s/follow-%d"):format(arg[2], P.C.getpid())
local path = dir .. "/a.ljm"
local C = P.C
local ok, eq = Checks.ok, Checks.eq

local function clean()
  Checks.clean(dir)
end

-- Reports have what is allocated here at this line. A trace adds a little.
local function tables(n)
  local t
  for _ = 1, n do t = { t } end
  return t
end
local line = debug.getinfo(tables, "S").linedefined + 2

-- The report of files: of a whole recording nothing is on standard error.
local function report(what, killed, ...)
  local names = {}
  for i, name in ipairs({ ... }) do
    names[i] = P.quote(name)
  end
  local command = P.quote(parser) .. " " .. table.concat(names, " ")
  local f = assert(io.popen(command .. " 2>" .. P.quote(dir .. "/warnings")))
  local s = f:read("*a")
  f:close()
  local warnings = P.get(dir .. "/warnings")
  ok((warnings ~= "") == killed, "%s: warnings: %s", what, warnings)
  return s
end

local function has(s, n, what)
  local got = s:match(":%d+, line " .. line .. ": (%d+) %d+ 0 %(tables%)")
  got = tonumber(got) or 0
  ok(got >= n and got <= n + n / 10 + 8, "%s: %d tables, not %d", what, got, n)
end

-- The numbers of the processes that have files a.ljm.PID; all names.
local function pids()
  local found, names = {}, P.output("ls -A " .. P.quote(dir))
  for pid in names:gmatch("%f[%w]a%.ljm%.(%d+)\n") do
    found[#found + 1] = tonumber(pid)
  end
  table.sort(found)
  return found, names
end

-- A process that records and does f, in a child of this one.
local function recorded(options, f)
  return P.child("fork", function()
    local o = { follow_fork = true }
    for k, v in pairs(options) do
      o[k] = v
    end
    assert(memprof.start(path, o))
    f()
  end)
end

-- A child and a grandchild, each with files of its own, and one report of all.
local function test_family(how, options, what)
  clean()
  local status = recorded(options, function()
    local kept = tables(40)
    local status = P.child(how, function()
      kept = nil
      tables(200)
      collectgarbage() -- What the parent has made is "(before start)".
      local status = P.child(how, function()
        tables(500)
        assert(memprof.stop())
      end)
      assert(status == 0)
      assert(memprof.is_running())
      assert(memprof.stop())
      tables(1000)
    end)
    assert(status == 0)
    tables(20)
    assert(memprof.stop())
  end)
  eq(status, 0, what .. ": status")
  local found, names = pids()
  eq(#found, 2, what .. ": files of children: " .. names)
  if #found ~= 2 then
    return
  end
  local files = { path }
  for i, pid in ipairs(found) do
    files[i + 1] = path .. "." .. pid
  end
  if options.sample then
    for _, file in ipairs(files) do
      ok(report(what, false, file):find("(tables)", 1, true), "%s: %s", what, file)
    end
    return
  end
  has(report(what, false, path), 60, what .. ", parent")
  -- Numbers of processes may have begun anew between the two.
  local child, grandchild = report(what, false, files[2]), report(what, false, files[3])
  if child:find("line " .. line .. ": 5%d%d ") then
    child, grandchild = grandchild, child
  end
  has(child, 200, what .. ", child")
  has(grandchild, 500, what .. ", grandchild")
  ok(child:find("(before start)", 1, true), "%s: no heap before the fork", what)
  has(report(what, false, unpack(files)), 760, what .. ", all")
end

-- A fork in a coroutine, which goes on in both, and ends in both.
local function test_coroutine()
  clean()
  local status = recorded({ stack = 16 }, function()
    local inner
    local co = coroutine.wrap(function()
      tables(10)
      coroutine.yield()
      inner = C.fork()
      tables(inner == 0 and 300 or 20)
      coroutine.yield()
    end)
    co()
    co()
    tables(inner == 0 and 30 or 10)
    assert(memprof.stop())
    if inner == 0 then
      C._exit(0)
    end
    assert(P.wait(inner) == 0)
  end)
  eq(status, 0, "coroutine: status")
  local found = pids()
  has(report("coroutine", false, path), 40, "coroutine, parent")
  has(report("coroutine", false, path .. "." .. tostring(found[1])), 330, "coroutine, child")
end

-- A child that is killed has a tail, and its parent another one.
local function test_kill(how)
  clean()
  local status = recorded({ tail = true }, function()
    tables(50)
    P.child(how, function()
      tables(400)
      P.die()
    end)
    tables(50)
    P.die()
  end)
  eq(status, -9, "kill: status")
  local found = pids()
  local file = path .. "." .. tostring(found[1])
  ok(P.get(file .. ".tail") and P.get(path .. ".tail"), "kill: no tails")
  has(report("kill", true, path), 100, how .. ", killed parent")
  has(report("kill", true, file), 400, how .. ", killed child")
end

-- A child that ends as programs do, and one that executes another program.
local function test_ends()
  clean()
  recorded({}, function()
    P.child("fork", function()
      tables(300)
      os.exit(0, true)
    end)
    assert(memprof.stop())
  end)
  has(report("exit", false, path .. "." .. tostring(pids()[1])), 300, "exit, child")
  clean()
  recorded({ tail = true }, function()
    local words = { "/bin/sh", "-c", "ls -l /proc/self/fd > '" .. dir .. "/fd'" }
    local argv = ffi.new("const char *[4]", words)
    P.child("fork", function()
      tables(300)
      C.execv(words[1], ffi.cast("char *const *", argv))
    end)
    assert(memprof.stop())
  end)
  has(report("exec", true, path .. "." .. tostring(pids()[1])), 300, "exec, child")
  local open = P.get(dir .. "/fd") or "nothing"
  ok(open:find("->", 1, true) and not open:find(".ljm", 1, true), "after exec: %s", open)
end

-- A child without a recording runs on, and its parent's is whole.
local function test_cannot()
  clean()
  local NOFILE = 7
  local old, new = ffi.new("struct rlimit"), ffi.new("struct rlimit")
  C.getrlimit(NOFILE, old)
  new.cur, new.max = 0, old.max
  local status = recorded({}, function()
    tables(30)
    C.setrlimit(NOFILE, new)
    local status = P.child("fork", function()
      tables(100)
      C.setrlimit(NOFILE, old)
      assert(not memprof.is_running() and not memprof.stop())
      assert(memprof.start(dir .. "/later.ljm"))
      tables(60)
      assert(memprof.stop())
    end)
    C.setrlimit(NOFILE, old)
    assert(status == 0)
    assert(memprof.stop())
  end)
  eq(status, 0, "no descriptors: status")
  eq(#pids(), 0, "no descriptors: files")
  has(report("cannot", false, path), 30, "no descriptors, parent")
  has(report("cannot", false, dir .. "/later.ljm"), 60, "no descriptors, later")
end

-- Without the option, a child is not recorded; nor is one of a bad option.
local function test_options()
  clean()
  recorded({ follow_fork = false }, function()
    P.child("fork", function()
      tables(10)
    end)
    assert(memprof.stop())
  end)
  eq(#pids(), 0, "without the option: files")
  for _, v in ipairs({ 1, "a\0%p" }) do
    ok(not pcall(memprof.start, path, { follow_fork = v }), "follow_fork = %s", tostring(v))
  end
  for _, v in ipairs({ "name", "x/%p" }) do
    eq(memprof.start(path, { follow_fork = v }), false, "follow_fork = " .. v)
  end
  eq(memprof.start(path, { follow_fork = true, format = "rfc" }), false, "of rfc")
  eq(memprof.start("/dev/null", { follow_fork = true }), false, "of a device")
  ok(not pcall(memprof.start, nil, { follow_fork = true, fd = 2 }), "of a descriptor")
  eq(memprof.is_running(), false, "running after all that")
  clean()
  recorded({ follow_fork = "child.%p.%p.ljm" }, function()
    P.child("fork", function()
      tables(10)
      assert(memprof.stop())
    end)
    assert(memprof.stop())
  end)
  ok(P.output("ls -A " .. P.quote(dir)):find("child%.(%d+)%.%1%.ljm\n"), "a name with %%p")
end

-- Dumps of a child have its number.
local function test_limit()
  clean()
  recorded({ dump_at_limit = 1000 }, function()
    tables(10)
    P.child("fork", function()
      local keep = {}
      while collectgarbage("count") < 4096 do
        keep[#keep + 1] = ("x"):rep(50000) .. #keep
      end
      assert(memprof.stop())
    end)
    assert(memprof.stop())
  end)
  local _, names = pids()
  ok(names:find("a%.%d+%.ljd\n"), "dumps: %s", names)
end

local several = [[
local ffi = require("ffi")
ffi.cdef("void *luaL_newstate(void); void luaL_openlibs(void *);" ..
  "int luaL_loadstring(void *, const char *); int lua_pcall(void *, int, int, int);" ..
  "void lua_close(void *); int fork(void); int waitpid(int, int *, int);")
local C = ffi.C
local code = "jit.off() require('memprof.auto') for _ = 1, %d do local t = {{}} end"
local function run(L, n)
  local s = code:format(n)
  if misc then s = s:gsub("require%b()", "") end
  assert(C.luaL_loadstring(L, s) == 0 and C.lua_pcall(L, 0, 0, 0) == 0)
end
jit.off()
local a, b = C.luaL_newstate(), C.luaL_newstate()
C.luaL_openlibs(a)
C.luaL_openlibs(b)
run(a, 10)
run(b, 20)
local pid = C.fork()
if pid == 0 then
  local c = C.luaL_newstate()
  C.luaL_openlibs(c)
  run(a, 30)
  run(b, 40)
  run(c, 50)
  C.lua_close(c)
end
C.lua_close(a)
C.lua_close(b)
local t = {{}}
if pid ~= 0 then C.waitpid(pid, nil, 0) end
os.exit(0, true)
]]

-- Several VMs of a process: FILE, FILE.PID.2 and so on, also in a child.
local function test_several()
  clean()
  local script = dir .. "/several.lua"
  P.put(script, several)
  local own = misc and "" or "LUA_INIT=\"require 'memprof.auto'\" "
  local command = ("cd '%s' && %sLJPROF=memprof:a.ljm,follow_fork %s several.lua")
  local s = P.output(command:format(dir, own, P.quote(lua)))
  eq(s, "", "several: output")
  local names, of = P.output("ls -A " .. P.quote(dir)), {}
  for pid, n in names:gmatch("a%.ljm%.(%d+)%.(%d+)\n") do
    of[pid] = (of[pid] or "") .. n
  end
  local child, parent
  for pid, all in pairs(of) do
    if all == "234" then child = pid else parent = pid end
  end
  ok(child and of[parent] == "23", "several: %s", names)
  ok(child and P.get(path .. "." .. child), "several, the first VM: %s", names)
  if not child then
    return
  end
  local function count(n, ...)
    local r = report("several", false, ...)
    local sum = 0
    for k in r:match("^(.-)\n\n"):gmatch("line 1: (%d+) ") do
      sum = sum + k
    end
    ok(sum >= 2 * n and sum <= 2 * n + 12, "several: %d, not %d", sum, 2 * n)
  end
  local base = path .. "." .. child .. "."
  count(10, path .. "." .. parent .. ".2")
  count(20, path .. "." .. parent .. ".3")
  count(30, base .. "2")
  count(40, base .. "3")
  count(50, base .. "4")
  report("several", false, path, path .. "." .. child, base .. "2", base .. "3", base .. "4")
end

-- A raw clone of a process with other threads, here the timer's, is not
-- followed: one of them may have held a lock that nobody gives back.
local function test_threads()
  clean()
  local status = recorded({ seconds = 1000 }, function()
    local kept = tables(40)
    local status = P.child("clone", function()
      kept = nil
      tables(200)
      assert(not memprof.is_running())
    end)
    assert(status == 0)
    tables(20)
    assert(memprof.stop())
  end)
  eq(status, 0, "a raw clone of threads: status")
  eq(#pids(), 0, "a raw clone of threads: files")
  has(report("a raw clone of threads", false, path), 60, "a raw clone of threads")
end

local kinds = {
  { "plain", {} },
  { "stack", { stack = 16 } },
  { "tail", { tail = true } },
  { "sample", { sample = 64 } },
  { "segments", { keep = "1M" } },
}
for _, how in ipairs({ "fork", "clone" }) do
  for _, kind in ipairs(kinds) do
    test_family(how, kind[2], how .. ", " .. kind[1])
  end
  test_kill(how)
end
local threads, message = memprof.start(dir .. "/thread.ljm", { thread = true })
if threads then
  memprof.stop()
  test_family("fork", { thread = true }, "fork, thread")
  test_family("fork", { seconds = 1000 }, "fork, time")
  test_threads()
else
  ok(message:find("threads are not compiled in", 1, true), "thread: %s", message)
end
test_coroutine()
test_ends()
test_cannot()
test_options()
test_limit()
test_several()
Checks.finish(dir)
