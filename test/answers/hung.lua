-- A worker that waits in the midst of a job, for an answer that never comes.
local function receive(pipe)
  local line = pipe:read("*l") -- GUILTY
  return line
end

local function ask(question)
  io.write(question, "\n")
  return receive(io.stdin)
end

local jobs = {"add 1 2", "add 3 4"}

local function serve()
  for _, job in ipairs(jobs) do
    ask(job)
  end
end

serve()
