-- Judges the reports of a program that ran work.lua, by what is true:
--
--   luajit judge.lua CSV TRUTH...
--
-- CSV is what lj-parse-memprof --view=functions --format=csv --min=0 printed of
-- memory and CPU together, TRUTH what each VM wrote. Prints a line for each
-- function; exit status 1 if something is not as it must be, marked "WRONG".
local here = arg[0]:match("^(.*/)") or "./"
package.path = here .. "../e2e/?.lua;" .. package.path
local csv = require("csv")

local POINTS = 2 -- Of 100, by which a share of CPU time may be wrong,
local SIGMA = 4 -- or so many standard deviations, if there were few samples.
local SAMPLES = 4000

local wrong = false

local function check(ok)
  wrong = wrong or not ok
  return ok and "" or " WRONG"
end

-- What is true of all VMs together: a list of functions.
local function read_truth(paths)
  local list, by_name = {}, {}
  for _, path in ipairs(paths) do
    for line in io.lines(path) do
      local name, at, seconds, allocations, bytes = line:match("^(%a+) (%d+) ([%d.]+) (%d+) (%d+)$")
      if name then
        local f = by_name[name]
        if not f then
          f = { name = name, at = at, seconds = 0, allocations = 0, bytes = 0 }
          by_name[name], list[#list + 1] = f, f
        end
        f.seconds, f.allocations, f.bytes = f.seconds + seconds, f.allocations + allocations, f.bytes + bytes
      end
    end
  end
  return list
end

-- The row of a function of work.lua.
local function row_of(rows, f)
  local label = ("work.lua:%d (burn.%s)"):format(f.at, f.name)
  for _, row in ipairs(rows) do
    if row.name:sub(-#label) == label then return row end
  end
  return {}
end

local functions = read_truth({ unpack(arg, 2) })
local rows = csv.read(arg[1])
local seconds, samples = 0, 0
for _, f in ipairs(functions) do
  f.row = row_of(rows, f)
  seconds = seconds + f.seconds
  samples = samples + (tonumber(f.row.total) or 0)
end
print(("%d functions%s, %d samples of %.2f s%s"):format(#functions, check(#functions == 3), samples, seconds,
  check(samples >= SAMPLES)))
for _, f in ipairs(functions) do
  local share, got = f.seconds / seconds, (tonumber(f.row.total) or 0) / samples
  local may = math.max(POINTS, 100 * SIGMA * math.sqrt(share * (1 - share) / samples))
  print(("%s: CPU %.2f%%, reported %.2f%%%s"):format(f.name, 100 * share, 100 * got,
    check(100 * math.abs(share - got) <= may)))
  for _, key in ipairs({ "allocations", "bytes" }) do
    print(("%s: %s %.0f, reported %s%s"):format(f.name, key, f[key], f.row[key] or "none",
      check(tonumber(f.row[key]) == f[key])))
  end
end
os.exit(wrong and 1 or 0)
