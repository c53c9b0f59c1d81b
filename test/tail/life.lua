-- The life of a tail: its name, its end, who may not store to it, and what the
-- parser makes of one that is damaged or another recording's.
-- Arguments: parser, scratch.

local ffi = require("ffi")
local P = require("process")
local Checks = require("checks")
local memprof = misc and misc.memprof or require("memprof")

local parser, dir = arg[1], ("%s/tail-%d"):format(arg[2], P.C.getpid())
local path = dir .. "/a.ljm"
local C = P.C
local ok, eq = Checks.ok, Checks.eq

ffi.cdef([[
int truncate(const char *path, long size);
]])

local function clean()
  Checks.clean(dir)
end

local function report(file)
  return P.output(("%s %s"):format(P.quote(parser), P.quote(file or path)))
end

-- Makes n tables. The report has them at this line.
local function tables(n)
  local t
  for _ = 1, n do
    t = { t }
  end
  return t
end

local row = (":%%d+, line %d: (%%d+) %%d+ 0 %%(tables%%)"):format(
  debug.getinfo(tables, "S").linedefined + 3)

local function has(s, n, what)
  local got = s:match(row)
  eq(tonumber(got) or 0, n, what)
end

-- A child that is killed while it records. Returns the report.
local function killed(n, options)
  P.child("fork", function()
    options = options or {}
    options.tail = true
    assert(memprof.start(path, options))
    tables(n)
    P.die()
  end)
  return report()
end

-- The tail of a process that has been killed.
local ends = "the recording ends with its tail"

local function test_names()
  clean()
  assert(memprof.start(path, { tail = true }))
  local size = #(P.get(path .. ".tail") or "")
  ok(size >= 65536 + 4096 and size <= 2 * 65536, "its size is %d", size)
  tables(10)
  eq(memprof.stop(), true, "stop")
  eq(P.get(path .. ".tail"), nil, "a tail after the end")
  has(report(), 10, "after the end")
  assert(memprof.start(path))
  eq(P.get(path .. ".tail"), nil, "a tail without the option")
  memprof.stop()
  killed(5)
  local tail = P.get(path .. ".tail")
  ok(tail, "no tail after a kill")
  assert(memprof.start(path, { tail = true }))
  memprof.stop()
  eq(P.get(path .. ".tail"), nil, "a tail after the next end")
  eq(P.get(path .. ".old.tail"), tail, "the tail of the file before")
  has(report(path .. ".old"), 5, "the file before")
  assert(memprof.start(path))
  memprof.stop()
  eq(P.get(path .. ".old.tail"), nil, "the tail of a file that is gone")
end

local function test_refused()
  clean()
  P.put(path, "before")
  P.put(path .. ".tail", "mine")
  local started, message = memprof.start(path, { tail = true })
  eq(started, false, "start where .tail is something else")
  ok(tostring(message):find(".tail is no tail", 1, true), "%s", message)
  eq(P.get(path), "before", "the file of a start that failed")
  eq(P.get(path .. ".tail"), "mine", "what is called .tail")
  ok(not pcall(memprof.start, path, { tail = 1 }), "tail = 1")
  ok(not pcall(memprof.start, nil, { tail = true, fd = 2 }), "tail and fd")
  eq(memprof.start(path, { tail = true, format = "rfc" }), false, "tail of rfc")
  eq(memprof.start("/dev/null", { tail = true }), false, "tail of a device")
  eq(memprof.is_running(), false, "running after all that")
end

local function leftover()
  return P.output(("ls -A '%s'"):format(dir))
end

-- No more than so many bytes of a file: SIGXFSZ must not come.
local function test_limit()
  clean()
  local FSIZE = 1
  local old, new = ffi.new("struct rlimit"), ffi.new("struct rlimit")
  C.getrlimit(FSIZE, old)
  new.cur, new.max = 20000, old.max
  C.setrlimit(FSIZE, new)
  local started, message = memprof.start(path, { tail = true })
  local without = memprof.start(path)
  local stopped = memprof.stop()
  C.setrlimit(FSIZE, old)
  eq(started, false, "start with a limit")
  ok(tostring(message):find("its tail cannot be allocated", 1, true), "%s", message)
  ok(without and stopped, "a recording without a tail")
  os.remove(path)
  eq(leftover(), "", "files")
end

-- A file system that is too small, if one can be made.
local function test_full()
  clean()
  local script = dir .. "/full.lua"
  P.put(script, [[
local memprof = misc and misc.memprof or require "memprof"
local full = arg[1] .. "/full/a.ljm"
print("tail", memprof.start(full, {tail = true}))
print("none", memprof.start(full))
print("stop", memprof.stop())
]])
  local exe = P.output("readlink /proc/" .. C.getpid() .. "/exe"):gsub("\n", "")
  local s = P.output(([[mkdir '%s/full'; unshare -rm sh -c '
    mount -t tmpfs -o size=40k none "$0/full" && exec "$1" "$2" "$0"' '%s' '%s' '%s']]):format(dir, dir, exe, script))
  if not s:find("tail", 1, true) then
    print("left out: no file system can be mounted: " .. s)
    return
  end
  ok(s:find("tail\tfalse\t[^\n]*there is no space for its tail"), "%s", s)
  ok(s:find("none\ttrue", 1, true) and s:find("stop\ttrue", 1, true), "%s", s)
end

-- A child of this process stores nothing to the tail, however it was made.
local function test_child(how)
  clean()
  local status
  P.child("fork", function()
    assert(memprof.start(path, { tail = true }))
    tables(20)
    status = P.child(how, function()
      tables(1000)
      collectgarbage()
      assert(not memprof.stop())
      assert(memprof.start(dir .. "/child.ljm", { tail = true }))
      tables(30)
      assert(memprof.stop())
      tables(1000)
    end)
    P.put(dir .. "/status", tostring(status))
    tables(3)
    P.die()
  end)
  eq(P.get(dir .. "/status"), "0", how .. ": status")
  local s = report()
  has(s, 23, how .. ": the parent's")
  ok(s:find(ends, 1, true), "%s: %s", how, s)
  has(report(dir .. "/child.ljm"), 30, how .. ": the child's")
  eq(P.get(dir .. "/child.ljm.tail"), nil, how .. ": the child's tail")
end

-- A child that goes on until it ends as programs do.
local function test_child_exit(how)
  clean()
  P.child("fork", function()
    assert(memprof.start(path, { tail = true }))
    tables(20)
    P.child(how, function()
      tables(100)
      os.exit(0, true)
    end)
    tables(3)
    P.die()
  end)
  local s = report()
  has(s, 23, how .. ": the parent's, whose child closes the VM")
  ok(s:find(ends, 1, true), "%s: %s", how, s)
end

-- Changes bytes of the tail, from the one at offset at on.
local function patch(tail, at, bytes)
  return tail:sub(1, at) .. bytes .. tail:sub(at + #bytes + 1)
end

local function test_damage()
  clean()
  has(killed(7), 7, "killed")
  local file, tail = P.get(path), P.get(path .. ".tail")
  local page = ffi.cast("const uint64_t *", tail)[1]
  local n = tonumber(page)
  local function try(what, bytes, says)
    P.put(path .. ".tail", bytes)
    local s = report()
    has(s, says and 0 or 7, what)
    ok(s:find(says or ends, 1, true), "%s: %s", what, s)
    eq(s:find("ignored", 1, true) ~= nil, says ~= nil and says:sub(1, 2) == "it", what .. ": ignored")
  end
  try("whole", tail)
  try("cut behind its events", tail:sub(1, n + 16000))
  try("empty", "", "it is no tail")
  try("no tail", ("x"):rep(70000), "it is no tail")
  try("header only", tail:sub(1, 64), "it is truncated")
  try("cut in its events", tail:sub(1, n + 100), "it is truncated")
  try("another recording", patch(tail, 32, "\1\2\3\4"), "it is that of another recording")
  try("no page", patch(tail, 8, ("\0"):rep(8)), "it is truncated, or")
  try("too large", patch(tail, 24, ("\255"):rep(8)), "its header is damaged")
  try("position", patch(tail, n - 8, ("\255"):rep(8)), "its position is outside")
  try("not begun", patch(tail, 4, "\0"), "killed or still recording")
  try("ended", patch(tail, 4, "\2"), "killed or still recording")
  try("written before", patch(tail, 48, ("\0"):rep(8)), "killed or still recording")
  P.put(path .. ".tail", patch(tail, 48, "\255\255\0"))
  local s = report()
  has(s, 7, "behind a gap")
  ok(s:find("its tail begins at offset 65535", 1, true), "gap: %s", s)
  -- The last block was cut, and the tail has it.
  P.put(path .. ".tail", tail)
  P.put(path, file .. "ljb\16\1\2\3\4\100\0\0\0")
  s = report()
  has(s, 7, "a block was being written")
  ok(s:find(ends, 1, true) and not s:find("lost", 1, true), "cut block: %s", s)
  for i = n + 20, n + 200 do
    P.put(path .. ".tail", patch(tail, i, "\255\255\255"))
    ok(report():find("HEAP SUMMARY", 1, true), "garbage at %d", i)
  end
end

-- Options that change what an event is.
local function test_options()
  for _, o in ipairs({ { stack = 16 }, { buffer = 16384 }, { sample = 1 } }) do
    clean()
    local s = killed(2000, o)
    if not o.sample then
      has(s, 2000, "options")
    else
      ok(s:find("(tables)", 1, true), "sampled: %s", s)
    end
    ok(s:find(ends, 1, true), "%s", s)
  end
end

-- Of a file that is followed, the tail comes at the end.
local function test_follow()
  clean()
  killed(9)
  local out = P.quote(path .. ".out")
  local s = P.output(("%s --follow=0.2 %s > %s & p=$!; until grep -q '^=====' %s; do sleep 0.05; done; kill -TERM $p; wait $p; cat %s")
    :format(P.quote(parser), P.quote(path), out, out, out))
  has(s:match("the last.*") or "", 9, "followed")
end

test_names()
test_refused()
test_limit()
test_full()
for _, how in ipairs({ "fork", "clone" }) do
  test_child(how)
  test_child_exit(how)
end
test_damage()
test_options()
test_follow()
Checks.finish(dir)
