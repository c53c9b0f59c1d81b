-- What heap.ljd.gz is a dump of: something of each type, a list, a cache of
-- objects of a class, weak tables, closures, coroutines, and some garbage.
--   luajit heap.lua heap.ljd

local ffi = require "ffi"
ffi.cdef "typedef struct { int x, y; double d[4]; } point_t;"

local Session = {}
Session.__index = Session
function Session.new(id)
  return setmetatable({id = id, user = "user " .. id, log = {}}, Session)
end
package.loaded["app.session"] = {new = Session.new, Session = Session}

cache, queue, points = {}, {}, {}
for i = 1, 60 do
  cache["key " .. i] = Session.new(i)
  queue.first = {next = queue.first, value = {i, "a\1\255" .. i}}
  points[i] = ffi.new("point_t")
end
bytes = ffi.new("uint8_t[?]", 1000)
weak = setmetatable({cache["key 1"], {}}, {__mode = "v"})
sparse = {}
for i = 1, 1000 do sparse[i] = i end
for i = 1, 990 do sparse[i] = nil end
local co = coroutine.create(function(request)
  local answer = {request, {}}
  coroutine.yield(answer)
end)
coroutine.resume(co, {path = "/"})
pending = {co, io.stdout, function() return co end}
for i = 1, 20 do local _ = {i} end

assert(misc.memprof.dump(arg[1]))
