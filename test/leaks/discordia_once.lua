-- Listeners that hear one event are never collected:
-- https://github.com/SinisterRectus/Discordia/pull/330
--
-- They are removed from the list of their event, not from a table that has which
-- ones are of this kind.
--
-- SAYS: is kept by main thread<local once>
-- SAYS: 3000 x table {fn, name} keep

local once = {}
local Emitter = {}
Emitter.__index = Emitter

function Emitter.new() return setmetatable({listeners = {}}, Emitter) end

function Emitter:once(name, fn)
  local listener = {name = name, fn = fn}
  once[listener] = true
  self.listeners[name] = self.listeners[name] or {}
  table.insert(self.listeners[name], listener)
end

function Emitter:emit(name)
  local list = self.listeners[name]
  self.listeners[name] = nil
  for _, listener in ipairs(list) do listener.fn() end
end

local client = Emitter.new()
local function wait_for_reply(id)
  local message = {id = id, text = ("reply "):rep(40) .. id} -- GUILTY
  client:once("message", function() return message end)
  client:emit("message")
end

for id = 1, 3000 do wait_for_reply(id) end
dump()
