-- Heap dumps that a recording takes again and again.
--
--   luajit every.lua compact JIT DIRECTORY [lj-parse-memprof]

local H = require("harness")
local decode = require("decode")
local ffi = H.has_ffi and require("ffi")
local memprof = misc.memprof

local parser = (arg[4] or ""):find("lj%-parse%-memprof$") and arg[4] -- Else a module.
local dir = H.path("")
local base = dir .. "/app.ljm"
local MOST = 3000 -- Looks at the files; then the test has failed.

local function name(n)
  return ("%s/app.%04d.ljd"):format(dir, n)
end

local function exists(n)
  local f = io.open(name(n), "rb")
  if f then f:close() end
  return f ~= nil
end

-- The numbers of the dumps, the oldest first, and whether one is being written.
local function dumps()
  local p, list = assert(io.popen("LC_ALL=C ls -A '" .. dir .. "'")), {}
  local out = p:read("*a")
  p:close()
  for n in out:gmatch("app%.(%d+)%.ljd\n") do list[#list + 1] = tonumber(n) end
  return list, out:find(".tmp\n", 1, true) ~= nil
end

local function clean()
  os.execute(("rm -rf '%s' && mkdir -p '%s'"):format(dir, dir))
end

local function grow(n)
  for i = 1, n do every_kept[#every_kept + 1] = { i } end
end

-- Keeps more and more, and gives a child time to write, until something is true.
local function grow_until(what, fn)
  for _ = 1, MOST do
    grow(100)
    if fn() then return true end
    os.execute("sleep 0.005")
  end
  return H.ok(false, what)
end

local function started(opt, file)
  clean()
  every_kept = {}
  assert(memprof.start(file or base, opt))
end

-- Dumps until so many have been written, and stops. The newest ones are left.
local function ladder(last, keep)
  grow_until(("dump %d"):format(last), function()
    local list = dumps()
    return #list > 0 and list[#list] >= last
  end)
  H.ok(memprof.stop())
  local list, busy
  for _ = 1, MOST do
    list, busy = dumps()
    if not busy and #list <= keep then break end
    os.execute("sleep 0.005")
  end
  H.eq(#list, keep, "dumps that are left")
  H.ok(#list > 0 and list[#list] >= last, "dumps %s", table.concat(list, ", "))
  return list
end

H.case("so many bytes more", function()
  started({ dump_every = "64K", dump_keep = 3 })
  local list = ladder(6, 3)
  local s, ids = decode.stream(decode.slurp(base)), {}
  for _, d in ipairs(s.dumps) do ids[d.id] = true end
  for _, n in ipairs(list) do
    local meta = decode.dumpmeta(decode.slurp(name(n)))
    H.ok(ids[meta.dump], "dump %d has no record", n)
    H.eq(meta.recording, s.meta.monotonic, "the recording of dump %d", n)
  end
  if parser then
    local p = assert(io.popen(H.command(parser, "--growth", name(list[1]), name(list[2]),
      name(list[3]))))
    local out = p:read("*a")
    p:close()
    H.ok(out:find("\n  Grew at each step:.-\n    _G%.every_kept, a table, list of tables"), "growth:\n%s", out)
  end
  clean()
end)

H.case("after some time", function()
  started({ dump_every = "2ms", dump_keep = 2, sample = 524288 })
  ladder(4, 2)
  clean()
end)

H.case("five are kept", function()
  started({ dump_every = 65536 })
  ladder(7, 5)
  clean()
end)

H.case("none while nothing grows", function()
  started({ dump_every = "64M" })
  for _ = 1, 20 do
    for _ = 1, 10000 do every_kept[1] = { {} } end
    collectgarbage()
  end
  assert(memprof.stop())
  H.ok(not exists(1), "a dump")
  clean()
end)

if ffi then
  ffi.cdef("struct every_limit { unsigned long now, most; };" ..
           "int getrlimit(int, struct every_limit *);" ..
           "int setrlimit(int, const struct every_limit *);" ..
           "int fork(void); int waitpid(int, int *, int); void _exit(int);")
end

-- A child that is recorded has dumps of its own.
H.case("a child process", function()
  if not ffi then return end
  started({ dump_every = "64K", dump_keep = 2, follow_fork = true })
  io.stdout:flush()
  local pid = ffi.C.fork()
  if pid == 0 then
    local good = pcall(grow_until, "a dump of the child", function()
      for file in assert(io.popen("ls '" .. dir .. "'")):lines() do
        if file:find("^app%.%d+%.0002%.ljd$") then return true end
      end
    end)
    ffi.C._exit(good and 0 or 1)
  end
  local status = ffi.new("int[1]")
  H.eq(ffi.C.waitpid(pid, status, 0), pid, "waitpid()")
  H.eq(status[0], 0, "the child's status")
  assert(memprof.stop())
  local p = assert(io.popen("ls '" .. dir .. "'"))
  local out = p:read("*a")
  p:close()
  H.ok(out:find("app." .. pid .. ".0001.ljd\n", 1, true), "the child's first dump: %s", out)
  H.ok(not exists(1), "a dump of the parent")
  clean()
end)

-- Does a child of this process write a dump? One that has ended, and was not
-- waited for, does not.
local function writing()
  local f = io.open("/proc/thread-self/children")
  local busy = false
  for pid in (f and f:read("*a") or ""):gmatch("%d+") do
    local stat = io.open("/proc/" .. pid .. "/stat")
    local state = stat and (stat:read("*a") or ""):match("%) (%a)")
    if stat then stat:close() end
    busy = busy or (state ~= nil and state ~= "Z")
  end
  if f then f:close() end
  return busy
end

-- A limit of the size of files stands for a disk that is full. A dump that is due
-- while another one is being written is left out: that would be the one to fail.
H.case("what cannot be written costs no other", function()
  if not ffi then return end
  started({ dump_every = "64K", dump_keep = 3, dump_file = dir .. "/app.ljd" }, "/dev/null")
  for n = 1, 2 do
    grow_until(("dump %d"):format(n), function() return exists(n) end)
  end
  for _ = 1, MOST do
    if not writing() then break end
    os.execute("sleep 0.005")
  end
  local limit = ffi.new("struct every_limit")
  assert(ffi.C.getrlimit(1, limit) == 0)
  local before = limit.now
  limit.now = 1000
  assert(ffi.C.setrlimit(1, limit) == 0)
  grow(10000)
  limit.now = before
  assert(ffi.C.setrlimit(1, limit) == 0)
  local last
  grow_until("a dump after the limit", function()
    for n = 3, 60 do last = last or (exists(n) and n) end
    return last
  end)
  assert(memprof.stop())
  H.ok(last and last > 3, "dump %s was written beyond the limit", tostring(last))
  H.ok(exists(1) and exists(2), "a dump before the limit is gone")
  clean()
end)

H.case("options", function()
  for _, case in ipairs({
    { { dump_every = "0s" }, "bad option 'dump_every' %(a time from" },
    { { dump_every = "9999999s" }, "bad option 'dump_every' %(a time from" },
    { { dump_every = "1h" }, "bad option 'dump_every' %(time as \"60s\"" },
    { { dump_every = "s" }, "bad option 'dump_every' %(time as \"60s\"" },
    { { dump_every = "1Ms" }, "bad option 'dump_every' %(bytes" },
    { { dump_every = 0 }, "bad option 'dump_every'" },
    { { dump_every = "0" }, "bad option 'dump_every' %(more than 0" },
    { { dump_every = "5000G" }, "bad option 'dump_every' %(less than" },
    { { dump_every = true }, "bad option 'dump_every' %(time as" },
    { { dump_every = "1s", dump_keep = 0 }, "bad option 'dump_keep'" },
    { { dump_every = "1s", dump_keep = 1024 }, "bad option 'dump_keep'" },
    { { dump_keep = 3 }, "option 'dump_keep' is for 'dump_every'" },
  }) do
    local ok, err = pcall(memprof.start, base, case[1])
    H.ok(not ok and err:find(case[2]), "%s, not %s", tostring(err), case[2])
  end
  started({ dump_every = "1000s", marks = 100 })
  assert(memprof.stop())
  clean()
end)

H.done()
