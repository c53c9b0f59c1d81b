-- What tests of heap dumps share: dumps of their own process, which are decoded
-- and checked.

local H = require("harness")
if not H.has_ffi then H.skip("the decoder needs numbers of 64 bits") end
local dump = require("dump")
local memprof = misc.memprof

local M = {}

M.path = H.path(".ljd")

local last

-- Gives up the dump before: what the decoder made of it would be ten times as
-- many objects in the next one.
function M.forget()
  if last then last.list, last.at, last.roots = nil, nil, nil end
  collectgarbage()
end

-- Writes a dump. Returns the VM's count. The first call may let the stack grow.
function M.write(name, opt)
  local before, ok, err, after
  ok, err = memprof.dump("/dev/null", opt)
  before = H.count()
  ok, err = memprof.dump(name, opt)
  after = H.count()
  H.eq(ok, true, "result of dump (%s)", tostring(err))
  H.eq(after, before, "bytes after the dump")
  return before
end
H.off(M.write)

-- Decodes it. What must hold of any dump is checked; making may be a number of
-- bytes that have no owner, or true for any.
function M.review(name, count, making)
  H.jit_switch(H.decoder_jit)
  local d = dump.read(name)
  H.jit_switch(H.jit)
  for i, fault in ipairs(dump.faults(d)) do
    if i <= 5 then H.ok(false, "%s", fault) end
  end
  H.eq(d.sums.total, count, "the VM's count")
  H.eq(d.meta.live, count, "live in META")
  if making ~= true then H.eq(d.sums.making, making or 0, "bytes in the making") end
  return d
end

-- Dumps and decodes.
function M.take(opt, making)
  M.forget()
  last = M.review(M.path, M.write(M.path, opt), making)
  return last
end
H.off(M.take)

-- What tests hand to the dump: found by its key in the registry's loaded table.
M.T = {}
package.loaded["dump test"] = M.T

-- The object in a dump of a value in T, which must have this type.
function M.want(d, type, ...)
  local o = dump.root(d, "registry")
  for _, key in ipairs({ "_LOADED", "dump test", ... }) do
    o = o and dump.get(d, o, key)
  end
  H.eq(o and o.type, type, "type of %s", tostring((select(-1, ...))))
  return o or error("no object")
end

function M.addr(v)
  return tonumber(("%p"):format(v):match("0x(%x+)"), 16)
end

-- The numbers at the end, without decoding what is before them.
function M.sums_of(name)
  local f = assert(io.open(name, "rb"))
  f:seek("end", -100)
  local data = f:read(100)
  f:close()
  local numbers, v, scale = {}, 0, 1
  for pos = 88, 1, -1 do
    local a, b, c = data:byte(pos, pos + 2)
    if a == 84 and b >= 128 and b - 128 + c * 128 == 100 - pos - 2 then
      for i = pos + 3, 100 do
        b = data:byte(i)
        v, scale = v + b % 128 * scale, scale * 128
        if b < 128 then
          numbers[#numbers + 1] = v
          v, scale = 0, 1
        end
      end
      return numbers
    end
  end
end

return M
