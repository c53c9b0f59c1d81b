-- Heap dumps: the memory of the process around the VM, and which pages the VM
-- has. That these have its objects is checked of every dump (dump.lua).

local H = require("harness")
local dumping = require("dumping")
local ffi = require("ffi")
local tabnew = require("table.new")
local take = dumping.take

if H.emulator ~= "" then H.skip("an emulator's memory is not the VM's") end

ffi.cdef [[
void *malloc(size_t);
void free(void *);
void *memset(void *, int, size_t);
]]

local MIB = 2 ^ 20
local system = os.getenv("LJPROF_SYSMALLOC") == "ON" -- The VM has no allocator of its own.

-- What the kernel says, in bytes.
local function rss()
  local f = assert(io.open("/proc/self/smaps_rollup"))
  local text = f:read("*a")
  f:close()
  return text:match("\nRss: *(%d+) kB") * 1024, text:match("\nSwap: *(%d+) kB") * 1024
end

-- All pages of a kind, and those that are resident.
local function pages(d, kind)
  local all, resident = 0, 0
  for _, m in ipairs(d.mapped) do
    if m.kind == kind then
      all, resident = all + m.size, resident + (m.resident and m.size or 0)
    end
  end
  return all, resident
end

-- First of all: later, there are free blocks that somebody wrote to.
H.case("pages that nobody wrote to", function()
  local has, buffer = pcall(require, "string.buffer")
  if system or not has then return end
  local b = {}
  for i = 1, 40 do b[i] = buffer.new(60000) end
  local all, resident = pages(take(), 0)
  H.ok(all - resident > 20 * 60000, "of %d bytes %d are resident", all, resident)
  H.eq(#b, 40, "buffers")
end)

H.case("memory of C", function()
  take() -- What it leaves behind is free in the next ones.
  local before = take()
  H.ok(math.abs(before.meta.rss - rss()) < 0.25 * before.meta.rss + 8 * MIB, "RSS is %d, not %d",
       before.meta.rss, rss())
  H.ok(before.meta.swap, "no swap")
  local size = 64 * MIB
  local p = ffi.C.malloc(size)
  ffi.C.memset(p, 1, size)
  local after = take()
  local more = after.meta.rss - before.meta.rss
  -- A sanitizer keeps what was freed, for a while.
  H.ok(more > 0.9 * size and (system or more < 1.5 * size), "%d bytes of C: %d more in RSS", size, more)
  ffi.C.free(p)
end)

H.case("free blocks", function()
  if system then return end
  local list, kept = {}, {}
  for i = 1, 20000 do list[i] = tabnew(60, 0) end
  local full = pages(take(), 0)
  for i = 1, #list, 50 do kept[#kept + 1] = list[i] end
  list = nil
  local d = take()
  local all, resident = pages(d, 0)
  H.ok(all > 0.8 * full, "of %d bytes %d are left, all over which something is kept", full, all)
  H.ok(resident > 0.8 * all, "of %d bytes %d are resident", all, resident)
  H.ok(all > 2 * d.sums.total, "%d bytes of pages for a heap of %d", all, d.sums.total)
  H.eq(#kept, 400, "kept")
end)

H.case("machine code", function()
  local all, resident = pages(take(), 1)
  -- At least that of the decoder of the dumps before.
  local compiled = H.has_jit and (H.jit or H.decoder_jit)
  H.ok((resident > 0) == compiled and resident <= all, "of %d bytes %d are resident", all, resident)
end)

os.remove(dumping.path)
H.done()
