-- Memory stays in use after a million timers, none of which is left:
-- https://github.com/lunarmodules/copas/issues/151
--
-- The tables are empty, and as large as they were at most.
--
-- SAYS: is kept by main thread<local scheduler>.tasks
-- SAYS: is kept by main thread<local scheduler>.due
-- SAYS: a table, empty: its slots take

local scheduler = {tasks = {}, due = {}}

function scheduler.add(i)
  local task = {at = i}
  scheduler.tasks[task] = true -- GUILTY
  scheduler.due[i] = task
end

function scheduler.run()
  for i, task in pairs(scheduler.due) do
    scheduler.due[i] = nil
    scheduler.tasks[task] = nil
  end
end

for i = 1, 50000 do scheduler.add(i * 7) end
scheduler.run()
collectgarbage()
dump()
