-- memprof_page.lua: records what nginx's workers allocate, on request.
--
--   /memprof?start[&worker=PID][&stack=N][&sample=BYTES]
--   /memprof?stop[&worker=PID][&collect=1]
local page = {}
local orders = ngx.shared.memprof

local function act(order, state)
  if order.collect == 1 then collectgarbage() end
  if order.verb == "stop" then return state.memprof.stop() end
  local options = {stack = order.stack, sample = order.sample}
  return state.memprof.start(state.name(), options)
end

-- Executes the last order once, if it is for this worker, and answers.
local function obey(state)
  local text = orders:get("order")
  if not text or text == state.done then return end
  state.done = text
  local id, verb, numbers = text:match("^(%d+) (%a+) (.*)$")
  local order = {verb = verb}
  for name, value in numbers:gmatch("(%a+)=(%d+)") do
    order[name] = tonumber(value)
  end
  local pid = ngx.worker.pid()
  if order.worker ~= 0 and order.worker ~= pid then return end
  local ran, ok, message = pcall(act, order, state)
  local result = ran and ok and verb or "failed: " .. tostring(ran and message or ok)
  local note = state.note and ", " .. state.note() or ""
  orders:rpush("answers " .. id, ("worker %d: %s%s\n"):format(pid, result, note))
end

-- A unique name in a folder.
function page.new_name(folder)
  local time = os.date("!%Y%m%dT%H%M%SZ")
  local n = orders:incr("recordings", 1, 0)
  return ("%s/%d-%s-%d.ljm"):format(folder, ngx.worker.pid(), time, n)
end

-- In init_worker_by_lua: takes orders in this worker, and records to
-- FOLDER/PID-TIME-N.ljm, another file each time. What `note` returns, if it is given,
-- is added to answers.
function page.take_orders(folder, note)
  local state = {note = note, done = orders:get("order")}
  state.name = function() return page.new_name(folder) end
  state.memprof = misc and misc.memprof or require "memprof"
  assert(ngx.timer.every(0.1, function() obey(state) end))
end

-- In content_by_lua: gives an order to the workers and prints what they answer.
function page.give_order()
  local args = ngx.req.get_uri_args()
  local verb = args.start and "start" or args.stop and "stop"
  local text = verb or ""
  for _, name in ipairs {"worker", "stack", "sample", "collect"} do
    local value = tostring(args[name] or 0)
    if not value:find("^%d+$") then verb = nil end
    text = text .. " " .. name .. "=" .. value
  end
  if not verb then return ngx.exit(ngx.HTTP_BAD_REQUEST) end
  local id = orders:incr("id", 1, 0)
  local want = (args.worker or "0") == "0" and ngx.worker.count() or 1
  orders:set("order", id .. " " .. text)
  for _ = 1, 40 do
    local answer = orders:lpop("answers " .. id)
    if answer then
      ngx.print(answer)
      want = want - 1
      if want == 0 then return end
    else
      ngx.sleep(0.05)
    end
  end
  ngx.say("no answer from ", want, want == 1 and " worker" or " workers")
end

return page
