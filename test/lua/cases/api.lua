-- misc.memprof from Lua: what it returns, what it refuses, and why.

local H = require("harness")
local memprof = misc.memprof

local EALREADY, ENOENT, EISDIR, ENOTDIR, ENOSPC, EACCES = 114, 2, 21, 20, 28, 13

local path = H.path()
local options = { format = H.format }

local function exists(name)
  local f = io.open(name)
  if f then f:close() end
  return f ~= nil
end

-- start() has to return false, a message with the name, and an errno.
local function check_refused(what, message, errno, ...)
  local result = { ... }
  H.eq(#result, 3, "results of %s", what)
  H.eq(result[1], false, "result of %s", what)
  H.ok(tostring(result[2]):find(message, 1, true), "message of %s is %s", what, tostring(result[2]))
  H.eq(result[3], errno, "errno of %s", what)
  H.eq(memprof.is_running(), false, "is_running after %s", what)
end

H.case("start, stop, is_running", function()
  H.eq(memprof.is_running(), false, "is_running at first")
  H.eq(select("#", memprof.is_running()), 1, "results of is_running")
  H.eq(select("#", memprof.start(path, options)), 1, "results of start")
  H.eq(memprof.is_running(), true, "is_running")
  H.eq(select("#", memprof.stop()), 1, "results of stop")
  H.eq(memprof.is_running(), false, "is_running at the end")
  H.eq(memprof.start(path), true, "start without options")
  H.eq(memprof.stop(), true, "stop")
  H.eq(H.decode_file(path).format, "compact", "default format")
  H.eq(memprof.start(path, nil), true, "start with nil")
  H.eq(memprof.stop(), true, "stop")
  H.eq(memprof.start(path, {}), true, "start with no options")
  H.eq(memprof.stop(), true, "stop")
  H.eq(memprof.start(path, 0), true, "start for ever")
  H.eq(memprof.stop(), true, "stop")
  os.remove(path)
end)

H.case("start twice", function()
  H.eq(memprof.start(path, options), true, "start")
  local keep = {}
  for i = 1, 1000 do keep[i] = { i } end
  for _, name in ipairs({ path, H.path(".second"), "/no/such/directory" }) do
    local ok, msg, errno = memprof.start(name, options)
    H.eq(ok, false, "the second start")
    H.eq(msg, "profiler is running already", "its message")
    H.eq(errno, EALREADY, "its errno")
  end
  H.eq(exists(H.path(".second")), false, "a file of the second start")
  H.eq(memprof.is_running(), true, "is_running")
  for i = 1, 1000 do keep[i] = { i } end
  H.eq(memprof.stop(), true, "stop")
  local s = H.decode_file(path)
  H.check_books(s)
  H.ok(s.counts.alloc >= 2000, "%d allocations", s.counts.alloc)
  os.remove(path)
end)

H.case("stop twice", function()
  local ok, msg, errno = memprof.stop()
  H.eq(ok, false, "stop before any start")
  H.eq(msg, "profiler is not running", "its message")
  H.ok(type(errno) == "number" and errno > 0, "its errno is %s", tostring(errno))
  H.eq(memprof.start(path, options), true, "start")
  H.eq(memprof.stop(), true, "stop")
  ok, msg = memprof.stop()
  H.eq(ok, false, "the second stop")
  H.eq(msg, "profiler is not running", "its message")
  os.remove(path)
end)

H.case("a hundred recordings", function()
  for i = 1, 100 do
    if not H.eq(memprof.start(path, options), true, "start " .. i) then break end
    local t = { i, { i } }
    H.eq(memprof.stop(), true, "stop " .. i)
  end
  H.check_books(H.decode_file(path))
  os.remove(path)
end)

H.case("files that cannot be written", function()
  check_refused("a missing directory", "/no/such/directory/x: No such file", ENOENT,
                memprof.start("/no/such/directory/x", options))
  check_refused("a directory", H.dir, EISDIR, memprof.start(H.dir, options))
  local f = assert(io.open(path, "w"))
  f:close()
  check_refused("a file as directory", path .. "/x", ENOTDIR, memprof.start(path .. "/x", options))
  check_refused("no name", "No such file", ENOENT, memprof.start("", options))
  check_refused("a full disk", "/dev/full: No space left", ENOSPC, memprof.start("/dev/full", options))
  os.remove(path)
end)

-- Root may write everywhere, so the child is without this privilege.
H.case("a file that is read-only", function()
  local p = io.popen("id -u")
  local root = p:read("*l") == "0"
  p:close()
  local as = root and "setpriv --bounding-set=-dac_override,-dac_read_search --" or ""
  local dir = os.tmpname()
  os.execute(("rm %s && mkdir -m 755 %s && : > %s/ro && chmod 444 %s/ro"):format(dir, dir, dir, dir))
  local script = assert(io.open(dir .. "/ro.lua", "w"))
  script:write(("print(misc.memprof.start(%q))"):format(dir .. "/ro"))
  script:close()
  if os.execute(("%s test ! -w %s/ro"):format(as, dir)) == 0 then
    local c = assert(io.popen(("%s %s %s %s/ro.lua 2>&1"):format(as, H.emulator, H.quote(H.luajit), dir)))
    H.eq(c:read("*a"), ("false\t%s/ro: Permission denied\t%d\n"):format(dir, EACCES), "output")
    c:close()
  else
    print("        left out: root cannot be without its privileges")
  end
  os.execute("rm -rf " .. dir)
end)

H.case("arguments", function()
  local function check(pattern, ...)
    local ok, msg = pcall(memprof.start, ...)
    H.eq(ok, false, "start for %s", pattern)
    H.ok(tostring(msg):find(pattern), "message is %q, expected %q", tostring(msg), pattern)
    H.eq(memprof.is_running(), false, "is_running")
    H.eq(exists(path), false, "a file")
    if ok then memprof.stop() os.remove(path) end
  end
  os.remove(path)
  check("bad argument #1 to .* %(string expected, got no value%)")
  check("bad argument #1 to .* %(string expected, got table%)", {})
  check("bad argument #1 to .* %(string expected, got nil%)", nil)
  check("bad argument #1 to .* %(string expected, got boolean%)", true)
  check("bad argument #2 to ", path, "compact")
  check("bad argument #2 to ", path, true)
  check("bad argument #2 to ", path, print)
  check("bad argument #2 to .*unknown option 'foo'", path, { foo = 1 })
  check("bad argument #2 to .*unknown option 'Format'", path, { Format = "rfc" })
  check("unknown option 'foo'", path, { format = "rfc", buffer = 65536, foo = false })
  check("bad argument #2 to ", path, { "rfc" })
  check("bad argument #2 to ", path, { [true] = 1 })
  for _, bad in ipairs({ 5, true, "", "RFC", "compact ", {}, "compact\0" }) do
    check("bad argument #2 to .*'format'", path, { format = bad })
  end
  for _, bad in ipairs({ "65536", true, {}, 0, 1, -65536, 16383, 16 * 2 ^ 20 + 1, 2 ^ 63, 2 ^ 64,
                         65536.5, 0 / 0, 1 / 0, -1 / 0 }) do
    check("bad argument #2 to .*'buffer'", path, { buffer = bad })
  end
  for _, bad in ipairs({ -1, -0.5, 0 / 0, 1 / 0, -1 / 0, 1e300 }) do
    check("bad argument #2 to ", path, bad)
  end
end)

H.case("the buffer's size", function()
  for _, size in ipairs({ 16384, 16385, 65536, 100003, 16 * 2 ^ 20 }) do
    H.eq(memprof.start(path, { buffer = size, format = H.format }), true, "start with " .. size)
    local keep = {}
    for i = 1, 20000 do keep[i % 100] = { i } end
    H.eq(memprof.stop(), true, "stop")
    local s = H.decode_file(path)
    H.check_books(s)
    if s.meta then H.eq(s.meta.buffer, size, "META buffer") end
    os.remove(path)
  end
end)

if H.compact then
  H.case("META", function()
    local s = H.record(function() end)
    local m = s.meta
    local function read(name)
      local p = assert(io.popen(name))
      local line = p:read("*l")
      p:close()
      return line
    end
    H.ok(m.producer:find("^ljprof memprof %d"), "producer is %s", m.producer)
    H.eq(m.vm, jit.version, "vm")
    H.eq(m.arch, jit.arch, "arch")
    H.eq(m.word, 8, "word")
    if H.has_ffi then H.eq(m.gc64, H.gc64 and 1 or 0, "gc64") end
    H.eq(m.pid, tonumber(read("echo $PPID")), "pid")
    H.eq(m.pidns, tonumber(read("readlink /proc/$PPID/ns/pid"):match("%d+")), "pidns")
    local ticks = tonumber(read("cut -d' ' -f22 /proc/$PPID/stat"))
    if H.emulator == "" then
      H.eq(m.process_start, ticks, "process_start")
    else -- The emulator tells the process when it was ready: ticks later.
      local late = m.process_start - ticks
      H.ok(late >= 0 and late < 1000, "process_start is %d ticks late", late)
    end
    H.ok(math.abs(tonumber("0x" .. m.realtime) / 1e9 - os.time()) < 60, "realtime")
    local uptime = tonumber(read("cut -d' ' -f1 /proc/uptime"))
    H.ok(m.monotonic / 1e9 <= uptime + 1, "monotonic")
    H.eq(m.buffer, 65536, "buffer")
  end)

  H.case("time", function()
    local t0 = os.clock()
    local s = H.record(function()
      local keep = {}
      while os.clock() - t0 < 0.2 do
        for i = 1, 1e4 do keep[1] = i % 1000 == 0 and { i } end
      end
    end)
    H.ok(s.times >= 8, "%d marks of time in 0.2 s", s.times)
    H.ok(s.totals.ns >= 0.15e9 and s.totals.ns < 60e9, "%d ns", s.totals.ns)
    local last, gap = 0, 0
    for _, e in ipairs(s.events) do
      if e.time < last then H.ok(false, "time runs backwards") break end
      gap, last = math.max(gap, e.time - last), e.time
    end
  end)
end

if not H.jit then
  H.case("the end comes by itself", function()
    local seconds = H.compact and 0.7 or 1
    H.eq(memprof.start(path, H.compact and seconds or { format = H.format, seconds = 1 }), true, "start")
    H.eq(memprof.is_running(), true, "is_running at first")
    local t0 = os.time()
    while memprof.is_running() and os.time() < t0 + 30 do
      for i = 1, 1e4 do local t = i % 5000 == 0 and { i } end
    end
    H.eq(memprof.is_running(), false, "is_running at the end")
    H.eq(memprof.stop(), false, "stop")
    local s = H.decode_file(path)
    H.check_books(s)
    if s.totals then
      -- The machine may have had something else to do in the meantime.
      H.ok(s.totals.ns >= seconds * 1e9 and s.totals.ns < 5e9, "it took %d ns", s.totals.ns)
    end
    H.eq(memprof.start(path, options), true, "start again")
    H.eq(memprof.stop(), true, "stop again")
    os.remove(path)
  end)
end

H.case("no file is left open", function()
  local function fds()
    -- Not before this process has closed its side of the pipe.
    local p = assert(io.popen("sleep 0.1; ls /proc/$PPID/fd | wc -l"))
    local n = p:read("*n")
    p:close()
    return n
  end
  local before = fds()
  for _ = 1, 20 do
    memprof.start(path, options)
    memprof.start(path, options)
    memprof.stop()
    memprof.start("/dev/full", options)
    memprof.start("/no/such/directory/x", options)
    pcall(memprof.start, path, { foo = 1 })
  end
  H.eq(fds(), before, "open files")
  os.remove(path)
end)

H.done()
