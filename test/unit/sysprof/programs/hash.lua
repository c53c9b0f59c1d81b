-- Records itself, tells the hashes of its functions as the recorder has them,
-- and stops itself in them. Nothing is told by a VM without the recorder.

local found, misc = pcall(require, "misc")
local name = os.tmpname()

local function hot(n)
  local t = {}
  for i = 1, n do t[i] = {i} end
  return t
end

-- The compiler starts traces at its returns, and knows better how large t gets.
local function down(n, last)
  local t = {}
  for i = 1, n do t[i] = i end
  if n < 2 then
    if last then os.execute("kill -STOP $PPID") end
    return 1
  end
  return down(n - 1, last) + down(n - 2)
end

local function outer(last)
  local function inner(x)
    local t = {hot(x)}
    down(3, last)
    return t
  end
  local t = {}
  for _ = 1, 50 do down(9) end
  for i = 1, 200 do t[i] = i % 7 == 0 and {} or inner(2) end
  return inner(100)
end

found = found and misc.memprof.start(name) -- Or it is not compiled in.
outer(false)
if found then
  assert(misc.memprof.stop())
  package.path = arg[1] .. "/../../../lua/?.lua;" .. package.path
  local decode = require("decode")
  local out = decode.stream(decode.slurp(name), function() end)
  for _, f in pairs(out.funcs) do
    if f.chunk == "@" .. arg[0] then
      print(("%d\t%.0f\t%s\t%s"):format(f.first, f.hash, f.lines, f.name or ""))
    end
  end
end
os.remove(name)
print("END")
io.stdout:flush()
outer(true)
