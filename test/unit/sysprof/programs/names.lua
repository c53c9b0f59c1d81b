-- Functions of a module whose chunk is gone, each calling another one in its
-- own way. Stops itself in the innermost one: names.lua HOW.

local text = [[
local execute, M = ...
local function stop() execute("kill -STOP $PPID") return 1 end

local function middle() local r = stop() return r end
function M.upvalue() local r = middle() return r end

local function first() local r = stop() return r end
local second = first
function M.alias() local r = second() return r, first end

local function hop() return stop() end
function M.tail() local r = hop() return r end

local list = { function() local r = stop() return r end }
local function any() return list[1]() end
function M.any() local r = any() return r end

local forward
function M.forward() local r = forward() return r end
function forward() local r = stop() return r end

function inenv() local r = stop() return r end
function M.global() local r = inenv() return r end

local T = {}
T.__index = T
function T:method() local r = stop() return r end
local function new() return setmetatable({}, T) end
function M.method() local o = new() local r = o:method() return r end

local object = new()
function T:other() local r = stop() return r end
function M.object() local r = object:other() return r end

local util = { sub = {} }
function util.sub.deep() local r = stop() return r end
function M.field() local r = util.sub.deep() return r end

local function protected() local r = stop() return r end
function M.pcall() local _, r = pcall(protected) return r end

local function wrap(fn)
  return function() local r = fn() return r end
end
M.parameter = wrap(function() local r = stop() return r end)

local state
local function idle() local r = stop() return r end
local function busy() return 0 end
function M.set() state = busy end
function M.state() local r = state() return r, busy, idle end
state = idle

local function make()
  local n = 0
  local function counter() n = n + stop() return n end
  return counter
end
local count = make()
M.make = make
function M.factory() local r = count() return r end

local memo = {}
for _, k in ipairs({ "a", "b" }) do
  memo[k] = function() local r = stop() return r end
end
function M.data() local r = memo.a() return r end

local function small(i) if i > 990 then return 1 end return i * 2 end
local function step(i) local r = small(i) return r end
function M.compiled()
  local r = 0
  for i = 1, 1000 do r = r + step(i) end
  return r + stop()
end
]]

-- The chunk is gone when this returns.
local M, weak = {}, setmetatable({}, { __mode = "k" })
local function load()
  local chunk = assert(loadstring(text, "@module.lua"))
  weak[chunk] = true
  setfenv(chunk, setmetatable({}, { __index = _G }))
  chunk(os.execute, M)
end
local function clear(...) return select("#", ...) end
load()
clear(nil, nil, nil, nil, nil, nil, nil, nil)
collectgarbage()
collectgarbage()
assert(next(weak) == nil, "the chunk is still there")

-- Nor what has been left of it in memory that is free: it would still tell.
local full = {}
for i = 1, 4000 do full[i] = ("x"):rep(i % 500 * 16) .. i end

if arg[2] then package.loaded.module = M end
local r = M[arg[1]]()
assert(r)
