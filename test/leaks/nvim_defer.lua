-- An editor has 8 GB of diagnostics: https://github.com/neovim/neovim/issues/30768
--
-- A function that is deferred has them as an upvalue, and is kept for long.
--
-- SAYS: is kept by main thread<local timers>
-- SAYS: 100 x table {due, fn}

local timers = {}

local function defer(fn, ms) timers[#timers + 1] = {fn = fn, due = ms} end

local function on_change(tick)
  local diagnostics = {}
  for i = 1, 50 do
    diagnostics[i] = {row = i, column = tick} -- GUILTY
  end
  defer(function() return diagnostics end, 500)
end

for tick = 1, 100 do on_change(tick) end
dump()
