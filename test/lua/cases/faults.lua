-- Ends that come from outside: exits, errors, signals, full disks, pipes.

local H = require("harness")

local path = H.path(".fault.bin")

-- A program that records to path while it makes many events. A FIFO may not
-- have its reader yet.
local function program(ending, rounds)
  return string.format([[
%s
local started, message, errno
repeat
  started, message, errno = misc.memprof.start(%q, { format = %q, buffer = 16384 })
until errno ~= 6
assert(started, message)
local keep, sum = {}, 0
for i = 1, %d do
  keep[i %% 512] = { i, tostring(i) }
  sum = sum + #keep[i %% 512][2]
end
print(sum)
%s
]], H.jit and "" or "jit.off()", path, H.format, rounds or 30000, ending)
end

local function run(ending, before, after, rounds)
  os.remove(path)
  return H.child(program(ending, rounds), before, after)
end

local expected = 0
for i = 1, 30000 do expected = expected + #tostring(i) end

-- The stream must be whole and have all that the program did.
local function check_whole(out, status, exit_status)
  H.ok(out:find(expected .. "\n", 1, true), "output is %s", out)
  H.eq(status, exit_status or 0, "exit status")
  local s = H.decode_file(path)
  os.remove(path)
  H.check_books(s)
  H.ok(s.counts.alloc >= 30000, "%d allocations", s.counts.alloc)
end

-- The stream must be good as far as it goes.
local function check_part(least)
  local s = H.decode_file(path)
  H.eq(s.whole, false, "whole")
  H.ok(s.error and (s.error:find("cut") or s.error:find("no TOTALS")), "error is %s", tostring(s.error))
  H.ok(s.nevents >= least, "%d events", s.nevents)
  return s
end

-- Exits ------------------------------------------------------------------------

local exits = {
  ["the end of the program"] = { "", 0 },
  ["stop"] = { "assert(misc.memprof.stop())", 0 },
  ["os.exit(0)"] = { "os.exit(0)", 0 },
  ["os.exit(3)"] = { "os.exit(3)", 3 },
  ["os.exit(0, true)"] = { "os.exit(0, true)", 0 },
  ["os.exit() in a coroutine"] = { "coroutine.wrap(function() os.exit(4) end)()", 4 },
  ["os.exit() in a hook"] = { "debug.sethook(function() os.exit(5) end, 'l')\nlocal x = 1\n", 5 },
  ["os.exit() in a finalizer"] = {
    "getmetatable(newproxy(true)).__gc = function() os.exit(6) end keep = nil collectgarbage()", 6 },
  ["an error"] = { "error('deliberate')", 1 },
  ["an error in a coroutine"] = { "coroutine.wrap(function() error({}) end)()", 1 },
}

for name, exit in pairs(exits) do
  H.case("exit by " .. name, function()
    local out, status = run(exit[1])
    check_whole(out, status, exit[2])
  end)
end

H.case("kill -9", function()
  local _, status = run("os.execute('kill -9 $PPID') while true do end", nil, nil, 100000)
  H.eq(status, 128 + 9, "exit status")
  check_part(150000)
  os.remove(path)
end)

H.case("kill -9 after a quiet second", function()
  -- What was recorded more than about a second ago is in the file, too.
  if H.jit then return end
  local _, status = run([[
local t0 = os.time()
while os.time() - t0 < 3 do for i = 1, 1e5 do end end
keep[1] = { 1 } -- The next event sees that it is late.
for i = 1, 100 do keep[1] = { i } end
os.execute('kill -9 $PPID') while true do end]])
  H.eq(status, 128 + 9, "exit status")
  check_part(60000)
  os.remove(path)
end)

-- Writing fails ------------------------------------------------------------------

local EPIPE, EFBIG = 32, 27
local stop = "io.write('STOP ', tostring(misc.memprof.is_running()), ' ') print(misc.memprof.stop()) " ..
             "print(misc.memprof.is_running()) keep = nil collectgarbage() " ..
             "print(misc.memprof.stop())"

local function check_failure(out, message, errno)
  H.ok(out:find(expected .. "\n", 1, true), "output is %s", out)
  H.ok(out:find(("STOP true false\t%s\t%d\nfalse\n"):format(message, errno), 1, true), "output is %s", out)
  H.ok(out:find("profiler is not running", 1, true), "output is %s", out)
end

H.case("a limit on the file's size", function()
  local out, status = run(stop, "trap '' XFSZ; ulimit -f 128;")
  H.eq(status, 0, "exit status")
  check_failure(out, "File too large", EFBIG)
  local data = require("decode").slurp(path)
  -- Whole blocks; a shell counts in blocks of 512 or 1024 bytes.
  H.ok(#data > 128 * 512 - 16384 and #data <= 128 * 1024, "the file has %d bytes", #data)
  check_part(1000)
  os.remove(path)
end)

H.case("a limit on the file's size, and then an exit", function()
  for _, ending in ipairs({ "os.exit(0)", "os.exit(0, true)", "" }) do
    local _, status = run(ending, "trap '' XFSZ; ulimit -f 128;")
    H.eq(status, 0, "exit status")
    check_part(1000)
  end
  os.remove(path)
end)

H.case("a pipe whose reader goes away", function()
  os.remove(path)
  os.execute("mkfifo " .. H.quote(path))
  local out = H.child(program(stop), string.format(
    "trap '' PIPE; head -c 20000 < %s > %s & ", H.quote(path), H.quote(path .. ".head")))
  check_failure(out, "Broken pipe", EPIPE)
  local s = H.decode_file(path .. ".head")
  H.ok(s.nevents > 100 or s.blocks == 1, "%d events", s.nevents)
  os.remove(path)
  os.remove(path .. ".head")
end)

H.case("a pipe whose reader stays", function()
  os.remove(path)
  os.execute("mkfifo " .. H.quote(path))
  local out, status = H.child(program("assert(misc.memprof.stop())"), string.format(
    "cat < %s > %s & ", H.quote(path), H.quote(path .. ".cat")), "; wait")
  H.ok(out:find(expected .. "\n", 1, true), "output is %s", out)
  os.rename(path .. ".cat", path)
  check_whole(out, status)
end)

-- A small file system. Only root can make one.
H.case("a file system that runs full", function()
  local ENOSPC = 28
  local dir = H.path(".mnt")
  local can = os.execute(("mkdir -p %s && unshare -m true 2>/dev/null && unshare -m " ..
    "mount -t tmpfs -o size=64k none %s 2>/dev/null"):format(H.quote(dir), H.quote(dir))) == 0
  if can then
    local kept = path
    path = dir .. "/full.bin"
    local inner = H.path(".inner.lua")
    local f = assert(io.open(inner, "w"))
    f:write((program(stop)))
    f:close()
    local p = assert(io.popen(("unshare -m sh -c %s 2>&1"):format(H.quote(
      ("mount -t tmpfs -o size=64k none %s && %s; wc -c < %s; cp %s %s"):format(
      H.quote(dir), H.command(H.luajit, inner), H.quote(path), H.quote(path), H.quote(kept))))))
    local out = p:read("*a")
    p:close()
    path = kept
    check_failure(out, "No space left on device", ENOSPC)
    local size = tonumber(out:match("\n(%d+)\n$"))
    H.ok(size and size > 65536 - 16384 and size <= 65536, "output is %s", out)
    check_part(1000)
    os.remove(inner)
    os.remove(path)
  else
    print("        left out: cannot mount")
  end
  os.execute("rmdir " .. H.quote(dir))
end)

H.done()
