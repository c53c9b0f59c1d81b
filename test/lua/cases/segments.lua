-- Segments: a recording of which the newest files are kept.

local H = require("harness")
local memprof = misc.memprof
local parser = arg[4] and arg[4]:match("lj%-parse%-memprof$") and arg[4]

local dir = H.path(".segments")
local path = dir .. "/app.ljm"
local BUFFER, EEXIST = 16384, 17

local function sh(command)
  local p = assert(io.popen(command .. " 2>&1; echo status $?"))
  local out, status = p:read("*a"):match("^(.*)status (%d+)\n$")
  p:close()
  return out, tonumber(status)
end

local function fresh()
  sh("rm -rf " .. H.quote(dir) .. " && mkdir -p " .. H.quote(dir))
end

local function names()
  return (sh("ls -A " .. H.quote(dir)):gsub("\n", " "))
end

-- The bytes of all files.
local function size()
  local sum = 0
  for n in sh("stat -c %s " .. H.quote(dir) .. "/* " .. H.quote(dir) .. "/.l* 2>/dev/null"):gmatch("(%d+)\n") do
    sum = sum + tonumber(n)
  end
  return sum
end

local kept = {}
local function work(n)
  for i = 1, n do
    local t = { i, "segment " .. i }
    kept[i % 500] = function() return t end
  end
end

local function record(opt, n, between)
  fresh()
  opt.buffer = BUFFER
  assert(memprof.start(path, opt))
  for i = 1, 20 do
    work(n / 20)
    if between then between(i) end
  end
  assert(memprof.stop())
end

-- The segments that are there, the oldest first.
local function segments(max)
  local all = {}
  for i = max, 0, -1 do
    local name = i > 0 and path .. "." .. i or path
    local f = io.open(name, "rb")
    if f then
      f:close()
      all[#all + 1] = H.decode_file(name)
      all[#all].name = name
    end
  end
  return all
end

-- Each is whole, and begins where the one before it ends.
local function check(all, sampled)
  for i, s in ipairs(all) do
    H.ok(s.whole, "segment %d is not whole: %s", i, s.error)
    local last = all[i - 1]
    if last then
      H.eq(s.meta.segment, last.meta.segment + 1, "segment")
      H.eq(s.meta.recording, last.meta.recording, "recording")
      H.eq(s.meta.first_event, last.meta.first_event + last.nevents, "first_event")
      H.eq(s.meta.live, last.totals.live, "live bytes at META")
    end
    local f = s.totals.foreign
    if not sampled then
      H.eq(s.meta.live + s.totals.bytes_in - s.totals.bytes_out - (f.bytes_in - f.bytes_out),
        s.totals.live, "live bytes of segment %d", i)
    end
    local flags = s.totals.flags - (sampled and 4 or 0)
    H.eq(flags, i < #all and 8 or 0, "flags of TOTALS")
  end
end

for _, opt in ipairs { { keep = "256K" }, { keep = 262144, stack = 16 }, { keep = "384K", segments = 6, stack = 16 } } do
  H.case(("the newest are kept: stack = %d, %d segments"):format(opt.stack or 0, opt.segments or 4), function()
    local most, bound = 0, 0
    local bytes = opt.keep == "384K" and 384 * 1024 or 262144
    local n = opt.segments or 4
    record(opt, 200000, function()
      local now = size()
      most = math.max(most, now)
    end)
    H.ok(most <= bytes, "%d bytes of at most %d", most, bytes)
    H.ok(most > bytes / 2, "only %d bytes of %d", most, bytes)
    local all = segments(n)
    H.eq(#all, n, "number of segments")
    check(all)
    local last = all[n]
    H.ok(last.meta.segment >= 2 * n, "only %d segments", last.meta.segment)
    H.ok(last.meta.first_event > 10 * all[1].nevents, "too little was recorded: %d", last.meta.first_event)
    for _, s in ipairs(all) do H.eq(s.error, nil, s.name) end
    if not parser then return end
    local list = {}
    for i, s in ipairs(all) do
      list[i] = H.quote(s.name)
      local out, status = sh(H.command(parser, s.name))
      H.eq(status, 0, "status of a segment: " .. out:sub(1, 200))
      H.ok(out:find("(before start)", 1, true), "no older objects")
    end
    local out, status = sh(H.command(parser) .. " " .. table.concat(list, " "))
    H.eq(status, 0, "status of all: " .. out:sub(1, 200))
    -- The order of the command line does not matter, but all must be there.
    local back = {}
    for i = #list, 1, -1 do back[#back + 1] = list[i] end
    H.eq(sh(H.command(parser) .. " " .. table.concat(back, " ")), out, "in another order")
    local gap, gapstatus = sh(H.command(parser) .. " " .. list[1] .. " " .. list[#list])
    H.eq(gapstatus, 1, "status with a gap")
    H.ok(gap:find("the segment before it is missing", 1, true), "with a gap: %s", gap:sub(1, 200))
    -- All that lives is what lived at the first start, and what came since.
    local sum = 0
    for live in out:gmatch("holds (%d+) bytes") do sum = sum + tonumber(live) end
    H.eq(sum, last.totals.live, "live bytes of all segments")
  end)
end

H.case("all segments together are all events", function()
  record({ max_size = "128K", segments = 100 }, 60000)
  local all = segments(99)
  H.ok(#all > 2, "%d segments", #all)
  H.eq(all[1].meta.segment, 0, "first segment")
  H.eq(all[1].meta.first_event, 0, "first event")
  check(all)
  -- An object that one segment frees is the same in the one where it came.
  local live, missed = {}, 0
  for _, s in ipairs(all) do
    for _, e in ipairs(s.events) do
      if e.oaddr then
        if live[e.oaddr] and live[e.oaddr] ~= e.osize then missed = missed + 1 end
        live[e.oaddr] = nil
      end
      if e.naddr then
        if live[e.naddr] then missed = missed + 1 end
        live[e.naddr] = e.nsize
      end
    end
  end
  H.eq(missed, 0, "objects that do not agree")
end)

H.case("samples", function()
  record({ keep = "256K", sample = 32, stack = 8 }, 400000)
  local all = segments(4)
  H.eq(#all, 4, "number of segments")
  check(all, true)
  for _, s in ipairs(parser and all or {}) do
    local out, status = sh(H.command(parser, s.name))
    H.eq(status, 0, "status of a segment: " .. out:sub(1, 200))
  end
end)

H.case("a killed process leaves what it had written", function()
  fresh()
  local _, status = H.child(([[
    assert(misc.memprof.start(%q, {keep = "256K", buffer = 16384}))
    local kept = {}
    for i = 1, 300000 do kept[i %% 100] = { i } end
    os.execute("kill -9 $PPID")
    for i = 1, 1e9 do kept[i %% 100] = { i } end]]):format(path))
  H.eq(status, 137, "status")
  local all = segments(4)
  H.eq(#all, 4, "number of segments")
  for i = 1, 3 do H.ok(all[i].whole, "segment %d: %s", i, all[i].error) end
  H.ok(not all[4].whole, "the last segment is whole")
end)

-- stop() has to return false, a message, and an errno.
local function check_ended(errno, text)
  local ok, msg, en = memprof.stop()
  H.eq(ok, false, "stop")
  H.ok(type(msg) == "string" and msg:find(text, 1, true), "message: %s", tostring(msg))
  H.eq(en, errno, "errno")
end

H.case("a directory with the name of a segment ends the recording", function()
  fresh()
  assert(memprof.start(path, { keep = "256K", buffer = BUFFER }))
  sh(("mkdir -p %s/app.ljm.1/a"):format(H.quote(dir)))
  work(100000)
  check_ended(EEXIST, "what has the name of a segment is no recording")
  H.ok(H.decode_file(path).whole, "what was recorded is not whole")
  H.eq(names(), "app.ljm app.ljm.1 ", "files")
end)

H.case("a file that is renamed ends the recording", function()
  fresh()
  assert(memprof.start(path, { keep = "256K", buffer = BUFFER }))
  os.rename(path, dir .. "/other")
  work(100000)
  check_ended(2, "renamed")
  H.eq(names(), "other ", "files")
end)

H.case("a name that is no recording's is left alone", function()
  fresh()
  local f = assert(io.open(path .. ".2", "w"))
  f:write("a letter")
  f:close()
  local ok, msg, en = memprof.start(path, { keep = "1M" })
  H.eq(ok, false, "start")
  H.ok(msg:find("no recording", 1, true), "message: %s", msg)
  H.eq(en, EEXIST, "errno")
  H.eq(names(), "app.ljm.2 ", "files")
end)

if parser then
  H.case("whoever follows goes on in the next segment", function()
    fresh()
    collectgarbage() -- What earlier cases left would fill segments when it is freed.
    collectgarbage()
    assert(memprof.start(path, { max_size = "128K", segments = 100, buffer = BUFFER }))
    work(1000)
    local p = assert(io.popen(H.command(parser, "--follow=0.1", path) .. " 2>&1; echo status $?"))
    local first = p:read("*l") -- It reads segment 0.
    H.ok(first:find("^===== [%d.]+ seconds, %d+ bytes$"), "the first line is %s", first)
    for _ = 1, 10 do work(5000) end
    assert(memprof.stop())
    local last, status = p:read("*a"):match("=====[^=]* bytes, the last\n(.*)status (%d+)\n$")
    p:close()
    local list = {}
    for i, s in ipairs(segments(100)) do list[i] = H.quote(s.name) end
    H.ok(#list > 3 and #list < 100, "%d segments: %s", #list, (sh("ls -lA " .. H.quote(dir))))
    H.eq(status, "0", "status")
    H.eq(last, (sh(H.command(parser) .. " " .. table.concat(list, " "))), "the last report")
  end)
end

H.case("options that do not go together", function()
  for text, opt in pairs {
    ["of the format"] = { keep = "1M", format = "rfc" },
    ["not for files with segments"] = { keep = "1M", tail = true },
    ["exclude each other"] = { keep = "1M", max_size = "1M" },
    ["is for 'keep' or 'max_size'"] = { segments = 3 },
    ["less than 4 times"] = { keep = "512K" },
    ["bad option 'keep'"] = { keep = "1X" },
    ["bad option 'max_size'"] = { max_size = "99999999999999G" },
    ["bad option 'segments'"] = { keep = "1M", segments = 1 },
  } do
    fresh()
    local ok, msg = pcall(memprof.start, path, opt)
    H.eq(ok, false, text)
    H.ok(tostring(msg):find(text, 1, true), "message: %s", tostring(msg))
    H.eq(names(), "", "files")
    if ok then memprof.stop() end
  end
  local ok, msg = pcall(memprof.start, nil, { keep = "1M", fd = 1 })
  H.ok(not ok and msg:find("file with a name", 1, true), "message: %s", tostring(msg))
end)

sh("rm -rf " .. H.quote(dir))
H.done()
