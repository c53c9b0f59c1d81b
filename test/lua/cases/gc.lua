-- The profiler does not change what it measures: as many cycles of the garbage
-- collector, the same size of the heap, with and without it.

local H = require("harness")
if H.jit then H.skip("the JIT compiler itself allocates") end
local memprof = misc.memprof

-- A program that begins and ends with the same heap. It makes no strings and
-- has no objects as keys: those would be at other places each time, and so the
-- collector would do its work in another order.
local cycles = 0
local proxy = newproxy(true)
getmetatable(proxy).__gc = function()
  cycles = cycles + 1
  newproxy(proxy)
end

local function program(sizes)
  for round = 1, 30 do
    local keep = {}
    for i = 1, 4000 do
      keep[i % 500 + 1] = { i, { i, x = i }, function() return keep end }
      if i % 10 == 0 then
        local co = coroutine.wrap(function() coroutine.yield({ i }) end)
        co()
        keep[#keep + 1] = newproxy()
      end
    end
    sizes[round] = H.count()
  end
end

local options = { format = H.format }

local function run(sizes, path)
  collectgarbage() collectgarbage() collectgarbage()
  cycles = 0
  sizes[32] = H.count()
  if path then assert(memprof.start(path, options)) end
  program(sizes)
  if path then assert(memprof.stop()) end
  sizes[31] = cycles
end

H.case("cycles and sizes, with and without", function()
  local path = H.path()
  local without, with, again = {}, {}, {}
  for i = 1, 32 do without[i], with[i], again[i] = 0, 0, 0 end
  newproxy(proxy)
  for _ = 1, 3 do run(without) end -- Lets stacks and buffers grow.
  run(without)
  run(with, path)
  run(again)
  H.ok(without[31] > 50, "%d cycles", without[31])
  for i, size in ipairs(without) do
    local what = i == 31 and "cycles" or i == 32 and "first size" or "size " .. i
    H.eq(again[i], size, what .. " of a program that repeats")
    H.eq(with[i], size, what .. " with the profiler")
  end
  H.check_books(H.decode_file(path))
  os.remove(path)
end)

H.done()
