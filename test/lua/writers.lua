-- Where a recording goes: a thread, memory, a function.
--
--   luajit writers.lua compact jit directory lj-parse-memprof

local H = require("harness")
local memprof = misc.memprof
local path, parse = H.dir .. "/writers-" .. (H.jit and "on" or "off") .. ".ljm", arg[4]

-- About 4 events for each of n.
local function work(n)
  local t = {}
  for i = 1, n do t[i % 1000] = { i, tostring(i) } end
end

local function write(blocks)
  local f = assert(io.open(path, "wb"))
  for _, b in ipairs(blocks) do f:write(b) end
  f:close()
end

-- What the parser says of the file: its first line on stderr, or "".
local function warning()
  local p = io.popen(("%s '%s' -o /dev/null 2>&1; echo $?"):format(parse, path))
  local text = p:read("*a")
  p:close()
  return text:match("^(.-)\n?(%d+)\n$")
end

-- The events that the parser misses, in all gaps of the file.
local function missing()
  local p = io.popen(("%s --format=json '%s' 2>/dev/null"):format(parse, path))
  local damage, sum = p:read("*a"):match('"damage":%s*(%b[])'), 0
  p:close()
  for n in damage:gmatch('"events":%s*(%d+)') do sum = sum + tonumber(n) end
  return sum
end

local function is_whole(what)
  local text, status = warning()
  H.ok(text == "" and status == "0", "%s: status %s, %s", what, status, text)
end

local function refused(what, ...)
  local ok, message = pcall(memprof.start, ...)
  H.ok(not ok and message:find(what, 1, true), "%s: message is %s", what, tostring(message))
  H.ok(not memprof.is_running(), "%s: it runs", what)
end

H.case("thread", function()
  for _, options in ipairs {
    { thread = true }, { thread = "wait", queue = 131072, stack = 10 },
    { thread = "drop", queue = "64M" }, { zstd = true }, { zstd = 19 },
    { thread = true, zstd = 1, sample = 1000 },
    { thread = true, max_size = "512K", segments = 100 },
  } do
    local ok, message, en = memprof.start(path, options)
    -- Without the library, or in a build without threads.
    if not ok and (en == 38 or message:find("libzstd", 1, true)) then break end
    H.ok(ok, "start: %s", tostring(message))
    work(20000)
    H.ok(memprof.stop(), "stop")
    is_whole("thread " .. tostring(options.thread) .. ", zstd " .. tostring(options.zstd))
  end
end)

H.case("memory", function()
  assert(memprof.start(nil, { memory = "8M" }))
  work(20000)
  H.ok(memprof.stop(), "stop")
  local blocks = {}
  for b in memprof.take do blocks[#blocks + 1] = b end
  H.ok(#blocks > 3, "%d blocks", #blocks)
  H.ok(memprof.take() == nil, "more blocks than there are")
  write(blocks)
  is_whole("memory")
end)

-- Taken while it records; the events of that are recorded, too.
H.case("take", function()
  assert(memprof.start(nil, { memory = "256K" }))
  local blocks = {}
  for _ = 1, 20 do
    work(2000)
    for b in memprof.take do blocks[#blocks + 1] = b end
  end
  H.ok(memprof.stop(), "stop")
  for b in memprof.take do blocks[#blocks + 1] = b end
  write(blocks)
  is_whole("take")
end)

H.case("full", function()
  assert(memprof.start(nil, { memory = "128K" }))
  work(100000)
  H.ok(memprof.stop(), "stop")
  local blocks = {}
  for b in memprof.take do blocks[#blocks + 1] = b end
  write(blocks)
  local text, status = warning()
  H.ok(status == "1", "status %s", status)
  -- A small block may have found room behind a large one that had none.
  local events = tonumber(text:match("with (%d+) events"))
  H.eq(missing(), events, text)
end)

H.case("function", function()
  local blocks, inside = {}, 0
  assert(memprof.start(function(b)
    inside = inside + 1
    blocks[#blocks + 1] = b
    work(10) -- It may do what it likes.
    H.ok(inside == 1, "called inside of itself")
    inside = inside - 1
  end))
  for _ = 1, 10 do work(2000) collectgarbage() end
  local before = #blocks
  H.ok(before > 3, "%d blocks at the collector's cycles", before)
  collectgarbage("stop")
  work(50000)
  before = #blocks
  H.ok(memprof.deliver() and #blocks > before, "deliver")
  collectgarbage("restart")
  H.ok(memprof.stop(), "stop")
  write(blocks)
  is_whole("function")
end)

H.case("function that fails", function()
  assert(memprof.start(function() error("no more", 0) end))
  work(20000)
  local ok, message, en = memprof.deliver()
  H.ok(not ok and message == "no more" and en == 125, "deliver: %s", tostring(message))
  ok, message, en = memprof.stop()
  H.ok(not ok and message == "no more" and en == 125, "stop: %s", tostring(message))
  H.ok(not memprof.is_running(), "it runs")
  assert(memprof.start(path)) -- The next one knows nothing of it.
  H.ok(memprof.stop(), "stop of the next")
end)

-- The VM ends: by lua_close() all is delivered, by exit() nothing can be.
H.case("close", function()
  local code = ([[
    local start = misc and misc.memprof.start or require("memprof").start
    local f = assert(io.open("%s", "wb"))
    f:setvbuf("no")
    assert(start(function(b) f:write(b) end))
    local t = {}
    for i = 1, 20000 do t[i %% 1000] = { i } end
  ]]):format(path)
  local script = path .. ".lua"
  local f = assert(io.open(script, "w"))
  f:write(code)
  f:close()
  local status = os.execute(H.emulator .. " " .. H.luajit .. " " .. script)
  H.ok(status == 0, "status %s", tostring(status))
  is_whole("close")
  os.remove(script)
end)

H.case("refused", function()
  refused("'tail' is not for 'thread'", path, { thread = true, tail = true })
  refused("'thread' and 'zstd' are of the format", path, { thread = true, format = "rfc" })
  refused("'zstd' is not for files with segments", path, { zstd = 3, keep = "4M" })
  refused("at least twice the buffer", path, { thread = true, queue = 1000 })
  refused("'queue' is for 'thread'", path, { queue = "1M" })
  refused("bad option 'thread'", path, { thread = "later" })
  refused("bad option 'zstd'", path, { zstd = 20 })
  refused("not for 'memory' or a function", nil, { memory = "1M", thread = true })
  refused("not for 'memory' or a function", work, { zstd = true })
  refused("are for files", work, { tail = true })
  refused("are for files", nil, { memory = "1M", keep = "8M" })
  refused("of the format \"compact\"", work, { format = "rfc" })
  refused("beside the option 'memory'", path, { memory = "1M" })
  refused("at least twice the buffer", nil, { memory = 1 })
  for _, name in ipairs { "unix:", "unix:/nonexistent/s", "tcp:localhost", "tcp:127.0.0.1:1" } do
    local ok, message = memprof.start(name)
    H.ok(not ok and message:find(name, 1, true) == 1, "%s: %s", name, tostring(message))
  end
end)

os.remove(path)
os.remove(path .. ".old")
for i = 1, 100 do os.remove(path .. "." .. i) end
H.done()
