-- Files of recordings: starts that fail leave what is there, and what others do
-- to a file, or to its descriptor, ends the recording and harms nothing else.

local H = require("harness")
local memprof = misc.memprof

local EBADF, EACCES, EBUSY, EEXIST, ENOTDIR, EISDIR, EINVAL, ENXIO, ENOENT, EFBIG, ENOSPC, EPIPE, ELOOP, ESTALE =
  9, 13, 16, 17, 20, 21, 22, 6, 2, 27, 28, 32, 40, 116

local dir = H.path(".files")
local path = dir .. "/app.bin"
local options = { format = H.format }

local function sh(command, ...)
  for i = 1, select("#", ...) do command = command:gsub("%$" .. i, (H.quote(select(i, ...)):gsub("%%", "%%%%"))) end
  local p = assert(io.popen(command .. " 2>&1"))
  local out = p:read("*a")
  p:close()
  return (out:gsub("\n$", ""))
end

local function fresh()
  os.execute("rm -rf " .. H.quote(dir) .. " && mkdir -p " .. H.quote(dir))
end

local function sum(name)
  return sh("sha256sum < $1", name)
end

local function list()
  return (sh("ls -A $1", dir):gsub("\n", " "))
end

local function work(n)
  local t = {}
  for i = 1, n or 1000 do t[i % 100] = { i } end
end

local function record(name, n)
  assert(memprof.start(name, options))
  work(n)
  assert(memprof.stop())
end

local function check_whole(name, least)
  local s = H.decode_file(name)
  H.check_books(s)
  H.ok(s.counts.alloc >= least, "%d allocations", s.counts.alloc)
end

-- The stream must be good as far as it goes, and end with a whole block.
local function check_part(name)
  local s = H.decode_file(name)
  H.eq(s.whole, false, "whole")
  H.ok(s.error and (s.error == "no TOTALS" or not H.compact), "error is %s", tostring(s.error))
  H.ok(s.nevents > 0, "%d events", s.nevents)
end

-- start() or stop() has to return false, a message, and an errno.
local function check_refused(what, message, errno, ...)
  local result = { ... }
  H.eq(result[1], false, "result of %s", what)
  H.ok(tostring(result[2]):find(message, 1, true), "message of %s is %s", what, tostring(result[2]))
  H.eq(result[3], errno, "errno of %s", what)
  H.eq(memprof.is_running(), false, "is_running after %s", what)
end

-- A program that runs in a process of its own, with the recorder as `m`.
local function child(source, before, after)
  return H.child(([[
%s
local m, path, options = misc.memprof, %q, { format = %q, buffer = 16384 }
local keep = {}
local function work(n) for i = 1, n or 100000 do keep[i %% 512] = { i, tostring(i) } end end
%s
print("END")]]):format(H.jit and "" or "jit.off()", path, H.format, source), before, after)
end

local function check_end(out, status)
  H.eq(status, 0, "exit status")
  H.ok(out:find("END\n$"), "output is %s", out)
end

-- What is there -------------------------------------------------------------------

local wrong = { -- Combinations are refused without an error.
  { format = "rfc", stack = 4 }, { format = "tarantool", stack = 4 },
  { format = "rfc", sample = 4096 }, { format = "tarantool", sample = 1 }, { seed = 1 },
}

H.case("200 starts that fail", function()
  fresh()
  record(path)
  os.execute(("cd %s && mkfifo fifo && mkdir folder && ln -s app.bin link && ln -s nothing dangling"):format(H.quote(dir)))
  local good, before = sum(path), list()
  local profile = H.module and H.compact and require("jit.profile")
  for i = 1, 200 do
    local way = i % 11
    if way < 5 then
      check_refused("wrong options", "options do not go together", EINVAL, memprof.start(path, wrong[way + 1]))
    elseif way == 5 then
      H.eq(pcall(memprof.start, path, { foo = 1 }), false, "an unknown option")
    elseif way == 6 then
      H.eq(pcall(memprof.start, path, { format = "rfc", fd = 1 }), false, "a name and fd")
    elseif way == 7 then
      check_refused("a link", "symbolic link", ELOOP, memprof.start(dir .. "/link", options))
      check_refused("a dangling link", "symbolic link", ELOOP, memprof.start(dir .. "/dangling", options))
    elseif way == 8 then
      check_refused("a folder", "Is a directory", EISDIR, memprof.start(dir .. "/folder", options))
      check_refused("a file as folder", "Not a directory", ENOTDIR, memprof.start(path .. "/x", options))
    elseif way == 9 then
      check_refused("a FIFO", "FIFO that nobody reads", ENXIO, memprof.start(dir .. "/fifo", options))
    elseif profile then
      profile.start("fi1000", function() end)
      check_refused("beside jit.p", "jit.p is running", EBUSY, memprof.start(path, options))
      profile.stop()
    else
      H.eq(memprof.start("/dev/null", options), true, "start")
      H.eq(memprof.start(path, options), false, "the second start")
      H.eq(memprof.stop(), true, "stop")
    end
  end
  H.eq(sum(path), good, "the good file")
  H.eq(list(), before, "files")
end)

H.case("starts without space", function()
  fresh()
  record(path)
  local good = sum(path)
  local out, status = child([[
for _ = 1, 20 do
  local ok, message, errno = m.start(path, options)
  assert(not ok and errno == 27, message)
end]], "trap '' XFSZ; ulimit -f 0;")
  check_end(out, status)
  if H.emulator == "" then -- qemu-user does not hold SIGXFSZ back.
    out, status = child("for _ = 1, 20 do assert(not m.start(path, options)) end", "ulimit -f 0;")
    check_end(out, status)
  end
  H.eq(sum(path), good, "the good file")
  H.eq(list(), "app.bin", "files")
end)

H.case("the file before is kept", function()
  fresh()
  record(path)
  local first = sum(path)
  H.eq(sh("stat -c %a $1", path), "600", "mode")
  H.eq(memprof.start(path, options), true, "start")
  H.eq(sum(path .. ".old"), first, "the first one, while the second is written")
  work()
  H.eq(memprof.stop(), true, "stop")
  check_whole(path, 1000)
  local second = sum(path)
  record(path)
  H.eq(sum(path .. ".old"), second, "the second one")
  H.eq(list(), "app.bin app.bin.old", "files")
  -- One that is empty is not kept, so the one that was is not lost.
  os.execute(": > " .. H.quote(path))
  record(path)
  H.eq(sum(path .. ".old"), second, "the second one")
  H.eq(list(), "app.bin app.bin.old", "files")
end)

H.case("the umask may take more away", function()
  fresh()
  local out, status = child("assert(m.start(path, options)) assert(m.stop())", "umask 277;")
  check_end(out, status)
  H.eq(sh("stat -c %a $1", path), "400", "mode")
end)

H.case("what cannot be kept", function()
  fresh()
  record(path)
  local good = sum(path)
  os.execute("mkdir " .. H.quote(path .. ".old"))
  check_refused("a folder .old", "cannot be kept", EEXIST, memprof.start(path, options))
  H.eq(sum(path), good, "the good file")
  H.eq(list(), "app.bin app.bin.old", "files")
  -- FILE.old is too long a name, FILE is not.
  local long = dir .. "/" .. ("x"):rep(252)
  record(long)
  good = sum(long)
  H.eq(memprof.start(long, options), false, "a long name")
  H.eq(sum(long), good, "the file with a long name")
end)

-- Kinds of files --------------------------------------------------------------------

H.case("standard output", function()
  if not H.emulator:find("qemu") then
    check_refused("/dev/stdout", "option fd = 1", ELOOP, memprof.start("/dev/stdout", options))
  end
  fresh()
  local program = dir .. "/stdout.lua"
  local f = assert(io.open(program, "w"))
  f:write(([[assert(misc.memprof.start(nil, { fd = 1, format = %q }))
    local t = {} for i = 1, 2000 do t[i %% 100] = { i } end
    assert(misc.memprof.stop())]]):format(H.format))
  f:close()
  local command = H.command(H.luajit, program)
  os.execute(command .. " > " .. H.quote(path))
  check_whole(path, 2000)
  os.execute(command .. " | cat > " .. H.quote(path))
  check_whole(path, 2000)
  -- What is there stays, and what comes after is behind it.
  for _, how in ipairs({ "> ", ">> " }) do
    os.execute(("printf before > $1; { %s%s; printf after; } %s$1"):format(
      how == "> " and "printf before; " or "", command, how):gsub("%$1", (H.quote(path):gsub("%%", "%%%%"))), nil)
    local data = require("decode").slurp(path)
    H.eq(data:sub(1, 6), "before", "what was there")
    H.eq(data:sub(-5), "after", "what came after")
    f = assert(io.open(path, "wb"))
    f:write(data:sub(7, -6))
    f:close()
    check_whole(path, 2000)
  end
end)

H.case("descriptors", function()
  fresh()
  check_refused("no descriptor", "Bad file descriptor", EBADF, memprof.start(nil, { fd = 987 }))
  check_refused("a folder's descriptor", "not open for writing", EBADF, (function()
    local out = child([[print(m.start(nil, { fd = 7 }))]], nil, "7< " .. H.quote(dir))
    local message, errno = out:match("^false\t(.-)\t(%d+)\n")
    return false, message, tonumber(errno)
  end)())
  for _, bad in ipairs({ -1, 1.5, "1", true }) do
    local ok, message = pcall(memprof.start, nil, { fd = bad })
    H.ok(not ok and message:find("'fd'", 1, true), "message is %s", tostring(message))
  end
  local ok, message = pcall(memprof.start, path, { fd = 1 })
  H.ok(not ok and message:find("nil expected beside the option 'fd'", 1, true), "message is %s", tostring(message))
  H.eq(list(), "", "files")
  -- A descriptor in the middle of a file: what is behind it would be lost.
  record(path)
  local good = sum(path)
  local out = child([[print(m.start(nil, { fd = 7 }))]], nil, "7<> " .. H.quote(path))
  H.ok(out:find("false\t[^\n]*not the end of its file\t22\n"), "output is %s", out)
  H.eq(sum(path), good, "the file")
  -- Two recordings to one file by its descriptor.
  local second = dir .. "/second.lua"
  local f = assert(io.open(second, "w"))
  f:write("print(misc.memprof.start(nil, { fd = 7 }))")
  f:close()
  out = child(("print(m.start(nil, { fd = 7, format = options.format })) print(io.popen(%q):read('*a'))"):format(
    H.command(H.luajit, second)), nil, "7> " .. H.quote(path))
  H.ok(out:find("true\n.*another recording goes to it"), "output is %s", out)
end)

H.case("a FIFO without a reader", function()
  fresh()
  os.execute("mkfifo " .. H.quote(path))
  local out, status = child("print(m.start(path, options))", "timeout 60")
  check_end(out, status)
  H.ok(out:find("false\t[^\n]*FIFO that nobody reads\t6\n"), "output is %s", out)
end)

-- Writing fails ---------------------------------------------------------------------

-- Starts when the reader has opened the FIFO.
local wait_start = [[
local ok, message, errno
repeat ok, message, errno = m.start(path, options) until errno ~= 6
assert(ok, message)
]]

H.case("a reader that goes away does not kill", function()
  fresh()
  os.execute("mkfifo " .. H.quote(path))
  local out, status = child(wait_start .. "work() print(m.stop())",
    ("head -c 20000 < %s > /dev/null & "):format(H.quote(path)))
  check_end(out, status)
  H.ok(out:find(("false\tBroken pipe\t%d\n"):format(EPIPE)), "output is %s", out)
  -- Nor does it at the exit.
  out, status = child(wait_start .. "work()", ("head -c 20000 < %s > /dev/null & "):format(H.quote(path)))
  check_end(out, status)
end)

H.case("a limit on the file's size does not kill", function()
  for _, ending in ipairs({ "print(m.stop())", "os.exit(0)", "" }) do
    fresh()
    local out, status = child("assert(m.start(path, options)) work() print('END')" .. ending, "ulimit -f 128;")
    H.eq(status, 0, "exit status")
    H.ok(out:find("END\n"), "output is %s", out)
    if ending:find("stop") then
      H.ok(out:find(("false\tFile too large\t%d\n"):format(EFBIG)), "output is %s", out)
    end
    check_part(path)
  end
end)

-- In a small file system, which only root can make. The disk is full for a
-- while, and it is not when the buffer is.
H.case("a file system that is full for a while", function()
  fresh()
  local mount = ("unshare -m sh -c 'mount -t tmpfs -o size=1m none %s && exec \"$@\"' sh "):format(dir)
  if os.execute(mount .. "true 2>/dev/null") ~= 0 then
    print("        left out: cannot mount")
    return
  end
  local kept = H.path(".kept")
  for _, ending in ipairs({ "os.remove(full)", "" }) do
    local out = child(([[
local full = path .. ".full"
options.buffer = 1048576
assert(m.start(path, options))
os.execute("cat /dev/zero > '" .. full .. "' 2> /dev/null")
local t0, last = os.time()
while os.time() - t0 < 4 do -- Some blocks that cannot be written.
  if os.time() ~= last then work(100) end
  last = os.time()
end
%s
work(1000)
print("STOPPED", m.stop())
keep = nil
os.execute("cp '" .. path .. "' %s")]]):format(ending, H.quote(kept)), mount, nil)
    if ending ~= "" then
      H.ok(out:find("STOPPED\ttrue\n"), "output is %s", out)
      check_whole(kept, 1000)
    else
      H.ok(out:find(("STOPPED\tfalse\tNo space left on device\t%d\n"):format(ENOSPC)), "output is %s", out)
      if H.compact then
        local s = H.decode_file(kept)
        H.eq(s.error, "no TOTALS", "error")
      end
    end
    os.remove(kept)
  end
end)

-- Others at the file ----------------------------------------------------------------

local function check_harm(message, errno, harm)
  fresh()
  local out, status = child(([[
assert(m.start(path, options))
work()
%s
work()
print("STOPPED", m.stop())
print(m.is_running(), m.start(path .. ".next", options), m.stop())]]):format(harm))
  check_end(out, status)
  H.ok(out:find(("STOPPED\tfalse\t%s\t%d\n"):format(message, errno)), "output is %s", out)
  H.ok(out:find("false\ttrue\ttrue\n"), "output is %s", out)
end

H.case("a file that is truncated", function()
  check_harm("the recording's file was truncated", ESTALE, "os.execute(': > ' .. path)")
  H.eq(sh("wc -c < $1", path), "0", "size")
end)

H.case("a file that another one writes to", function()
  check_harm("somebody else has written to the recording's file", ESTALE, "os.execute('printf MINE >> ' .. path)")
  H.eq(require("decode").slurp(path):sub(-4), "MINE", "the end of the file")
end)

H.case("a file that is deleted", function()
  check_harm("the recording's file was deleted or replaced", ENOENT, "os.remove(path)")
  H.eq(list(), "app.bin.next", "files")
end)

H.case("a file that is replaced", function()
  check_harm("the recording's file was deleted or replaced", ENOENT,
    "os.execute('echo mine > ' .. path .. '.mine; mv ' .. path .. '.mine ' .. path)")
  H.eq(require("decode").slurp(path), "mine\n", "the file")
end)

H.case("a file that is renamed", function()
  fresh()
  local out, status = child([[
assert(m.start(path, options)) work()
assert(os.rename(path, path .. ".1")) work()
assert(m.stop())]])
  check_end(out, status)
  check_whole(path .. ".1", 400000)
  H.eq(list(), "app.bin.1", "files")
end)

if H.has_ffi then
  local libc = [[
local ffi = require("ffi")
ffi.cdef "int close(int); int open(const char *, int, int); int dup2(int, int);"
]]

  H.case("descriptors that the program closes", function()
    check_harm("the program has closed the recording's descriptor", EBADF,
      libc .. "for fd = 3, 20 do ffi.C.close(fd) end")
    check_part(path)
  end)

  H.case("descriptors that the program closes and uses", function()
    local victim = dir .. "/victim.txt"
    check_harm("the program has closed the recording's descriptor", EBADF, libc .. ([[
for fd = 3, 20 do ffi.C.close(fd) end
for fd = 3, 20 do assert(ffi.C.open(%q, 65, 384) == fd) end]]):format(victim))
    H.eq(sh("wc -c < $1", victim), "0", "size of the victim")
  end)

  H.case("a descriptor that the program uses is not closed", function()
    fresh()
    local out, status = child(libc .. [[
assert(m.start(path, options))
for fd = 3, 20 do ffi.C.close(fd) end
for fd = 3, 20 do assert(ffi.C.open("/dev/null", 1, 0) == fd) end
assert(not m.stop())
for fd = 3, 20 do assert(ffi.C.close(fd) == 0, fd) end]])
    check_end(out, status)
  end)
end

H.case("a file that is being recorded", function()
  fresh()
  local out, status = child(([[
assert(m.start(path, options)) work()
local second = path .. ".lua"
local f = io.open(second, "w")
f:write(("print(misc.memprof.start(%%q))"):format(path))
f:close()
for _ = 1, 20 do
  local p = io.popen(%q .. " " .. second)
  print("SECOND", p:read("*a"))
  p:close()
end
os.remove(second)
work() assert(m.stop())]]):format(H.command(H.luajit)))
  check_end(out, status)
  local n = select(2, out:gsub(("SECOND\tfalse\t[^\n]*another recording goes to it[^\n]*\t%d\n"):format(EBUSY), ""))
  H.eq(n, 20, "refused starts")
  check_whole(path, 400000)
  H.eq(list(), "app.bin", "files")
  record(path) -- Nobody holds it any more.
end)

H.case("a file that is being recorded under its old name", function()
  fresh()
  local out, status = child(([[
assert(m.start(path, options)) work()
assert(os.rename(path, path .. ".old"))
os.execute("echo mine > " .. path)
local second = path .. ".lua"
local f = io.open(second, "w")
f:write(("print(misc.memprof.start(%%q))"):format(path))
f:close()
print("SECOND", io.popen(%q .. " " .. second):read("*a"))
os.remove(second)
work() assert(m.stop())]]):format(H.command(H.luajit)))
  check_end(out, status)
  H.ok(out:find(("SECOND\tfalse\t[^\n]*cannot be kept[^\n]*\t%d\n"):format(EBUSY)), "output is %s", out)
  check_whole(path .. ".old", 400000)
  H.eq(require("decode").slurp(path), "mine\n", "the file")
  H.eq(list(), "app.bin app.bin.old", "files")
end)

H.case("a child that goes on after the recording holds nothing", function()
  fresh()
  local out, status = child([[
assert(m.start(path, options))
local p = io.popen("sleep 100 > /dev/null 2>&1 & echo $!")
local sleeper = p:read("*l")
p:close()
assert(m.stop())
assert(m.start(path, options)) assert(m.stop())
os.execute("kill " .. sleeper)]])
  check_end(out, status)
end)

-- What root may do --------------------------------------------------------------------

H.case("a directory that cannot be written to", function()
  fresh()
  local other = sh("mktemp -d")
  local as = sh("id -u") == "0" and "setpriv --bounding-set=-dac_override,-dac_read_search --" or ""
  local f = assert(io.open(other .. "/a.lua", "w"))
  f:write(("print(misc.memprof.start(%q))"):format(other .. "/rw"))
  f:close()
  os.execute((": > %s/rw && chmod 666 %s/rw && chmod 555 %s"):format(other, other, other))
  if os.execute(("%s test ! -w %s"):format(as, other)) == 0 then
    H.eq(sh(("%s %s %s %s/a.lua"):format(as, H.emulator, H.quote(H.luajit), other)),
      ("false\t%s/rw: its directory cannot be written to\t%d"):format(other, EACCES), "output")
  else
    print("        left out: root cannot be without its privileges")
  end
  os.execute("chmod 755 " .. other)
  os.execute("rm -rf " .. other)
end)

os.execute("rm -rf " .. H.quote(dir))
H.done()
