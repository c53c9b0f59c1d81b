-- Judges the samples of scenes.lua: `luajit score.lua FOLDED` prints of all
-- samples in scenes: their number; the percentage that is in native code, which
-- is of the hot line; that is native and shown for another line; for another
-- function; of what is native, the percentage whose line is exact (without `~`).

package.path = arg[0]:gsub("[^/]*/[^/]*$", "") .. "?.lua;" .. package.path
local folded = require("folded")

local FIRST = 9 -- The first line behind the functions that are inlined.
local all, native, line, func, exact = 0, 0, 0, 0, 0

folded.read(arg[1], "sysprof", function(frames, count)
  local i = #frames
  while i > 0 and frames[i].kind ~= "lua" do
    i = i - 1
  end
  local at = frames[i]
  local hot = at and at.chunk:match("^%l[%l.]*%-%l+%-(%d+)$")
  if not hot then
    return
  end
  all = all + count
  if i == #frames then
    return
  end
  native = native + count
  line = line + (at.line == tonumber(hot) and 0 or count)
  func = func + (at.line >= FIRST and 0 or count)
  exact = exact + (at.approx and 0 or count)
end)

local function percent(n, of)
  return of > 0 and 100 * n / of or 0
end
print(("%d %.1f %.2f %.2f %.1f"):format(all, percent(native, all), percent(line, all),
  percent(func, all), percent(exact, native)))
