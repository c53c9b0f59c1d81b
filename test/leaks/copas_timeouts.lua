-- Sockets stay after a timeout: https://github.com/lunarmodules/copas/issues/185
--
-- Who waits is in two tables, by coroutine, and a timeout clears neither.
--
-- SAYS: <local operation_register>
-- SAYS: <local socket_register>
-- SAYS: together: 500 x thread serve copas_timeouts.lua

local socket_register, operation_register = {}, {}

local function wait(socket, operation)
  local co = coroutine.running()
  socket_register[co] = socket
  operation_register[co] = operation
  coroutine.yield()
end

local function serve(socket)
  local buffer = {}
  for i = 1, 20 do
    buffer[i] = {socket.fd * i} -- GUILTY
  end
  wait(socket, "receive")
  return buffer
end

for i = 1, 500 do coroutine.wrap(serve)({fd = i}) end
dump()
