-- Small functions that are inlined and cannot leave the trace: nothing says
-- where one ends and the next begins.
local measure = require("inlined")
local truth = require("truth")

local function a60(x)
  x = x * 0.999 + 1.5 x = x * 0.998 + 1.5 x = x * 0.997 + 1.5 x = x * 0.996 + 1.5
  x = x * 0.995 + 1.5 x = x * 0.994 + 1.5 x = x * 0.993 + 1.5 x = x * 0.992 + 1.5
  x = x * 0.991 + 1.5 x = x * 0.990 + 1.5 x = x * 0.989 + 1.5 x = x * 0.988 + 1.5
  x = x * 0.987 + 1.5 x = x * 0.986 + 1.5 x = x * 0.985 + 1.5 x = x * 0.984 + 1.5
  x = x * 0.983 + 1.5 x = x * 0.982 + 1.5
  return x
end

local function b30(x)
  x = x * 0.981 + 1.5 x = x * 0.980 + 1.5 x = x * 0.979 + 1.5 x = x * 0.978 + 1.5
  x = x * 0.977 + 1.5 x = x * 0.976 + 1.5 x = x * 0.975 + 1.5 x = x * 0.974 + 1.5
  x = x * 0.973 + 1.5
  return x
end

local function c10(x)
  x = x * 0.972 + 1.5 x = x * 0.971 + 1.5 x = x * 0.970 + 1.5
  return x
end

local function main()
  measure(a60, b30, c10)
end

truth.chain("main", "loop", "a60")
truth.chain("main", "loop", "b30")
truth.chain("main", "loop", "c10")
truth.chain("main", "loop")
main()
