-- Judges the joint report of a program by what is true:
--
--   luajit judge.lua TRUTH CSV
--
-- TRUTH is what work.lua printed, CSV what lj-parse-memprof --view=lines
-- --format=csv --min=0 did. Prints a line for each line of the program: shares
-- of CPU time, true and reported, in percent; the share of its samples that
-- were taken in allocation and garbage collection; allocations and bytes. Exit
-- status 1 if something is not as it must be, which is marked with "WRONG".

package.path = arg[0]:gsub("[^/]*$", "../?.lua;") .. package.path
local csv = require("csv")

local SAMPLES = 6000 -- 4 sigma are 2.5 points then, of a share of 40%.
local ERROR = 3 -- Points.

-- What alloc, GC must be of a line's samples, in percent.
local alloc_gc = {
  burn = { 0, 0.5 }, tables = { 30, 100 }, strings = { 5, 100 }, closures = { 5, 100 }, collect = { 95, 100 },
}

local wrong = false

local function check(ok)
  wrong = wrong or not ok
  return ok and "" or " WRONG"
end

-- The report's lines: by "FILE:LINE", a table by column. And all samples.
local function read_report(path)
  local rows, samples = {}, 0
  for _, row in ipairs(csv.read(path)) do
    local file, at = row.name:match("([^/@]+%.lua):%d+, line (%d+) %(")
    samples = samples + tonumber(row.self)
    rows[file and file .. ":" .. at or ""] = row
  end
  return rows, samples
end

-- What is true: functions with their line, seconds, and what they allocate;
-- and all seconds.
local function read_truth(path)
  local list, cpu = {}, 0
  for line in io.lines(path) do
    local w = {}
    for word in line:gmatch("%S+") do w[#w + 1] = tonumber(word) or word end
    if w[2] == "function" then
      list[#list + 1] = { name = w[3], chunk = w[5], memory = { 0, 0, 0 } }
    elseif w[2] == "line" then
      list[#list].line, list[#list].seconds = w[3], w[4]
    elseif w[2] == "memory" then
      for _, f in ipairs(list) do
        if f.line == w[3] then f.memory = { w[4], w[5], w[6] } end
      end
    elseif w[2] == "cpu" then
      cpu = w[3]
    end
  end
  return list, cpu
end

local truth, cpu = read_truth(arg[1])
local rows, samples = read_report(arg[2])
print("samples", samples .. check(samples >= SAMPLES))
print("functions", #truth .. check(#truth == 5))
for _, f in ipairs(truth) do
  local row = rows[f.chunk .. ":" .. f.line] or {}
  local function got(key) return tonumber(row[key]) or -1 end
  local want, share = 100 * f.seconds / cpu, 100 * got("total") / samples
  local gc, range = 100 * got("alloc-gc") / got("total"), alloc_gc[f.name]
  print(("%-8s cpu %.2f %.2f%s, alloc-gc %.1f%s"):format(f.name, want, share, check(math.abs(share - want) <= ERROR),
    gc, check(gc >= range[1] and gc <= range[2])))
  for i, key in ipairs({ "allocations", "bytes", "live" }) do
    print(("%-8s %s %.0f %.0f%s"):format(f.name, key, f.memory[i], got(key), check(got(key) == f.memory[i])))
  end
end
os.exit(wrong and 1 or 0)
