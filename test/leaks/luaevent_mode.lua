-- Clients are never collected: https://github.com/harningt/luaevent/issues/1
--
-- A table was to be weak, but {"__mode", "kv"} is a list of two strings.
--
-- SAYS: is kept by registry._LOADED.luaevent.add:callbacks
-- SAYS: , with metatable {}

package.preload.luaevent = function()
  local callbacks = setmetatable({}, {"__mode", "kv"})
  return {
    add = function(socket, handler)
      local item = {socket = socket, buffer = ("x"):rep(300)}
      callbacks[item] = coroutine.create(handler) -- GUILTY
    end,
  }
end

for i = 1, 1000 do
  require("luaevent").add({fd = i}, function() return i end)
end
dump()
