-- resty.ljprof: records what the workers of nginx allocate, on request.
--
--   lua_shared_dict ljprof 1m;                                       # in http
--   init_worker_by_lua_block { require("resty.ljprof").setup { dir = "/var/lib/memprof" } }
--   location /ljprof/ { content_by_lua_block { require("resty.ljprof").serve() } }
--
-- A request reaches any one worker. So each worker has a list of orders in the
-- shared dictionary, and looks into it ten times a second; what it answers goes
-- into a list of the request.

local ngx = ngx
local M = {_VERSION = "0.1.0"}

local PERIOD = 0.1 -- Seconds between two looks.
local WAIT = 5 -- Seconds that a request waits for all workers.
local KEEP = 60 -- Seconds after which an answer that nobody took is dropped.

-- What a request may ask for: does it change anything, and its numbers.
local verbs = {
  status = {changes = false, numbers = {}},
  start = {changes = true, numbers = {stack = true, sample = true, seconds = true}},
  stop = {changes = true, numbers = {collect = true}},
  flush = {changes = true, numbers = {}},
  dump = {changes = true, numbers = {collect = true}},
}

-- Of this worker: options of setup, its recorder, the file it records to.
local worker

-- -- In each worker ----------------------------------------------------------

-- A unique name in the folder.
local function new_name(suffix)
  local time = os.date("!%Y%m%d-%H%M%S")
  local n = worker.dict:incr("files", 1, 0)
  return ("%s/%d-%s-%d.%s"):format(worker.dir, ngx.worker.pid(), time, n, suffix)
end

-- The control socket of this worker: see doc/memprof.md.
local function control_path()
  local ffi = require "ffi"
  pcall(ffi.cdef, "unsigned geteuid(void);")
  local dir = os.getenv "XDG_RUNTIME_DIR"
  dir = dir and dir .. "/ljprof" or "/tmp/ljprof-" .. tonumber(ffi.C.geteuid())
  return ("unix:%s/%d.sock"):format(dir, ngx.worker.pid())
end

-- Gives an order to the recorder's own thread. The VM executes it when it
-- allocates next, as it does for the timer.
local function control(order)
  local socket = ngx.socket.tcp()
  socket:settimeout(3000)
  local ok, err = socket:connect(control_path())
  if not ok then return nil, err end
  socket:send(order .. "\n")
  local answer = {}
  repeat
    local line = socket:receive "*l"
    answer[#answer + 1] = line
  until not line
  socket:close()
  if answer[#answer] == "ok" then return true end
  return nil, answer[1] or "no answer"
end

local act = {}

function act.status()
  return true, worker.file and "recording " .. worker.file or "not recording"
end

function act.start(numbers)
  local file = new_name "ljm"
  local options = {control = worker.control}
  for _, name in ipairs {"stack", "sample", "seconds"} do
    options[name] = numbers[name] or worker[name]
  end
  local ok, err = worker.memprof.start(file, options)
  if not ok then return nil, err end
  worker.file = file
  return true, file
end

function act.stop()
  local file = worker.file
  local ok, err = worker.memprof.stop()
  worker.file = nil
  return ok, ok and (file or "another recording") or err
end

function act.flush()
  if not worker.file then return nil, "not recording" end
  if not worker.control then return nil, "setup has control = false" end
  local ok, err = control "flush"
  return ok, ok and worker.file or err
end

-- A child process writes the dump, while this one serves requests.
function act.dump()
  local file = new_name "ljd"
  local dump, err = worker.memprof.dump(file, {fork = true})
  worker.dump = dump or worker.dump
  return dump and true, dump and file or err
end

-- Executes an order, and answers.
local function obey(order)
  local id, verb, rest = order:match "^(%d+) (%a+)(.*)$"
  local numbers = {}
  for name, value in rest:gmatch "(%a+)=(%d+)" do numbers[name] = tonumber(value) end
  if numbers.collect == 1 then collectgarbage() end
  local ran, ok, what = pcall(act[verb], numbers)
  local result = ran and ok and verb or "failed"
  local note = worker.note and ", " .. worker.note() or ""
  local answers = "answers " .. id
  worker.dict:rpush(answers, ("worker %d: %s%s: %s\n"):format(
    ngx.worker.pid(), result, note, tostring(ran and what or ok)))
  worker.dict:expire(answers, KEEP)
end

-- Looks for orders. One that waits for a socket is not disturbed by the next.
local function look(premature)
  if premature or worker.busy then return end
  worker.busy = true
  local order = worker.dict:lpop(worker.orders)
  while order do
    obey(order)
    order = worker.dict:lpop(worker.orders)
  end
  worker.busy = false
end

-- In init_worker_by_lua: takes orders in this worker. Options:
--
--   dir       the folder of recordings, which belongs to the workers
--   dict      name of the lua_shared_dict: "ljprof"
--   stack, sample, seconds    of a start that has no such argument: 0
--   control   is there a control socket, which flush needs? true
--   note      a function, whose result is added to each answer
--   allow     a function that says whether a request may give orders, instead
--             of the rule of serve
function M.setup(options)
  local dict = assert(ngx.shared[options.dict or "ljprof"],
                      "no lua_shared_dict " .. (options.dict or "ljprof"))
  if not ngx.worker.id() then return end -- It serves no requests.
  worker = {
    dir = assert(options.dir, "setup needs dir"),
    dict = dict, note = options.note, allow = options.allow,
    stack = options.stack, sample = options.sample, seconds = options.seconds,
    control = options.control ~= false,
    memprof = misc and misc.memprof or require "memprof",
    orders = "orders " .. ngx.worker.id(),
  }
  dict:delete(worker.orders) -- Of the one that had this number before.
  dict:set("pid " .. ngx.worker.id(), ngx.worker.pid())
  assert(ngx.timer.every(PERIOD, look))
end

-- -- The page ----------------------------------------------------------------

-- Ends a request.
local function refuse(status, why)
  ngx.status = status
  ngx.say(why)
  return ngx.exit(status)
end

-- Comes a request from this machine, and neither through a proxy nor from a page
-- of another site in somebody's browser?
local function is_local()
  local address = ngx.var.realip_remote_addr or ngx.var.remote_addr or ""
  local headers = ngx.req.get_headers()
  for _, name in ipairs {"X-Forwarded-For", "X-Real-IP", "Forwarded", "Via", "Origin"} do
    if headers[name] then return false end
  end
  return address:find "^127%.%d+%.%d+%.%d+$" ~= nil or address == "::1" or address == "unix:"
end

-- The order of a request, and for whom it is. Else nil and the reason.
local function read_order(verb)
  local text, pid = verb, 0
  for name, value in pairs(ngx.req.get_uri_args()) do
    if type(value) ~= "string" or not value:find "^%d+$" or #value > 15 then
      return nil, name .. " is no number"
    elseif name == "worker" then
      pid = tonumber(value)
    elseif not verbs[verb].numbers[name] then
      return nil, verb .. " has no " .. name
    else
      text = text .. " " .. name .. "=" .. value
    end
  end
  return text, pid
end

-- Gives an order to the worker PID, or all of them: 0. Returns how many have it.
local function give(order, pid)
  local n = 0
  for id = 0, ngx.worker.count() - 1 do
    if pid == 0 or worker.dict:get("pid " .. id) == pid then
      n = n + (worker.dict:rpush("orders " .. id, order) and 1 or 0)
    end
  end
  return n
end

-- In content_by_lua: executes /start, /stop, /flush, /dump or /status, the last
-- part of the path, and prints a line for each worker. Arguments: worker=PID,
-- and the numbers of `verbs`. Only this machine may do that, and what changes
-- something is a POST.
function M.serve()
  local verb = ngx.var.uri:match "([^/]*)$"
  if not worker then
    return refuse(ngx.HTTP_INTERNAL_SERVER_ERROR, "setup was not called in init_worker_by_lua")
  elseif not (worker.allow or is_local)() then
    return refuse(ngx.HTTP_FORBIDDEN, "only from this machine")
  elseif not verbs[verb] then
    return refuse(ngx.HTTP_NOT_FOUND, "there are start, stop, flush, dump and status")
  elseif verbs[verb].changes and ngx.req.get_method() ~= "POST" then
    ngx.header.Allow = "POST"
    return refuse(ngx.HTTP_NOT_ALLOWED, verb .. " is a POST")
  end
  local order, pid = read_order(verb)
  if not order then return refuse(ngx.HTTP_BAD_REQUEST, pid) end
  local id = worker.dict:incr("requests", 1, 0)
  local want = give(id .. " " .. order, pid)
  if want == 0 then return refuse(ngx.HTTP_NOT_FOUND, "there is no such worker") end
  ngx.header.content_type = "text/plain"
  for _ = 1, WAIT / 0.05 do
    local answer = worker.dict:lpop("answers " .. id)
    while answer do
      ngx.print(answer)
      want = want - 1
      answer = want > 0 and worker.dict:lpop("answers " .. id)
    end
    if want == 0 then return end
    ngx.sleep(0.05)
  end
  ngx.say("no answer from ", want, want == 1 and " worker" or " workers")
end

return M
