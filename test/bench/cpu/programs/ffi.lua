-- FFI: calls of C, and C that calls back.
local truth = require("truth")
local ffi = require("ffi")

ffi.cdef([[
double cb_burn(double n);
void cb_each(int n, double (*fn)(double), double arg);
void qsort(void *base, size_t n, size_t size, int (*cmp)(const int *, const int *));
]])
local lib = ffi.load(assert(package.searchpath("cbench", package.cpath)))
local share = 0

local function call40(n)
  local x = lib.cb_burn(n)
  return x
end

local function back30(n)
  local x = 1
  for i = 1, n do x = x * 0.999 + i end
  return x
end

local function order30(a, b)
  local x = 1
  for i = 1, share do x = x * 0.998 + i end
  return a[0] - b[0] + (x < 0 and 1 or 0)
end

local each = ffi.cast("double (*)(double)", back30)
local order = ffi.cast("int (*)(const int *, const int *)", order30)

local function enter_each(n) lib.cb_each(3, each, n) return n end
local function enter_qsort(n) share = n ffi.C.qsort(ffi.new("int[5]", 3, 1, 4, 5, 2), 5, 4, order) return n end
jit.off(enter_each) -- C that calls back must not be called by a trace.
jit.off(enter_qsort)

local function main()
  truth.measure({
    { "call40", 4, call40, line = 1 }, { "back30", 3, back30, call = enter_each },
    { "order30", 3, order30, call = enter_qsort },
  })
end

truth.chain("main", "call40")
truth.chain("main", "enter_each", "c:cb_each", "back30")
truth.chain("main", "enter_qsort", "order30")
main()
