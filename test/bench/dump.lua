-- A heap of N objects with about four references each, dumped to a file.
--
--   luajit dump.lua [N [FILE]]
--
-- Prints microseconds of CPU an object, and bytes an object and a reference,
-- raw and as zstd packs them.

local n, file = tonumber(arg[1]) or 1e7, arg[2] or "/dev/shm/bench.ljd"

collectgarbage("stop")
math.randomseed(1)
local random = math.random
ROOT = {}
for i = 1, n do -- Most refer to what is near, as in real heaps.
  local near = i > 64 and ROOT[i - random(64)]
  ROOT[i] = { near, i > 64 and ROOT[i - random(64)], next = near, far = i > 1 and ROOT[random(i - 1)] }
end

local t0 = os.clock()
assert(misc.memprof.dump(file))
local cpu = os.clock() - t0

local function size(command)
  local p = assert(io.popen(command))
  local bytes = tonumber(p:read("*l"))
  p:close()
  return bytes
end

local quoted = "'" .. file:gsub("'", "'\\''") .. "'"
local raw = assert(size("stat -c %s " .. quoted))
local packed = size("zstd -qc " .. quoted .. " 2> /dev/null | wc -c")
os.remove(file)
-- Each object has its metadata, a reference from ROOT, four of its own and the
-- keys of two of these.
local refs = 7
print(("%d objects, %.3f us of CPU each"):format(n, cpu / n * 1e6))
print(("%d bytes: %.2f an object with %d references"):format(raw, raw / n, refs))
if packed and packed > 0 then print(("zstd: %d bytes, %.2f an object"):format(packed, packed / n)) end
os.exit(0)
