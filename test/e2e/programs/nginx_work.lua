-- What nginx does in the test: a handler whose time is known, 60/30/10, and
-- pages that tell it and forget it.
local work = {}

local took, began, counts = { 0, 0, 0 }, os.clock(), nil

local function web60(n)
  local x = 1
  for i = 1, n do x = x * 0.999 + i end
  return x
end

local function web30(n)
  local x = 1
  for i = 1, n do x = x * 0.998 + i end
  return x
end

local function web10(n)
  local x = 1
  for i = 1, n do x = x * 0.997 + i end
  return x
end

local phases = { web60, web30, web10 }

-- A request takes about a millisecond.
local function calibrate()
  local n, seconds = 1000, 0
  repeat
    n = n * 2
    local start = os.clock()
    web10(n)
    seconds = os.clock() - start
  until seconds > 0.001
  local unit = n * 0.0001 / seconds
  counts = { math.ceil(6 * unit), math.ceil(3 * unit), math.ceil(unit) }
end

function work.handle()
  local clock = os.clock
  if not counts then
    calibrate()
  end
  for i = 1, 3 do
    local start = clock()
    phases[i](counts[i])
    took[i] = took[i] + (clock() - start)
  end
  ngx.say("done")
end

function work.forget()
  took, began = { 0, 0, 0 }, os.clock()
  ngx.say("forgotten")
end

function work.tell()
  local cpu = os.clock() - began
  for i, name in ipairs({ "web60", "web30", "web10" }) do
    local info = debug.getinfo(phases[i], "S")
    ngx.say("truth function ", name, " ", took[i], " nginx_work.lua ", info.linedefined, " ", info.lastlinedefined)
    ngx.say("truth line ", info.linedefined + 2, " ", took[i], " nginx_work.lua")
    ngx.say("truth chain handle ", name)
  end
  ngx.say("truth chain handle")
  ngx.say("truth cpu ", cpu)
end

return work
