-- A C function that a program finds in several ways calls a Lua function, which
-- stops the process: cnames.lua DIRECTORY HOW.

package.cpath = arg[1] .. "/?.so"
local m = require("cbench")
package.loaded.cbench = nil

local function stop()
  os.execute("kill -STOP $PPID")
  return 1
end

-- Those of ljm_name.h; test/lua/cases/names.lua has the same for the recorder.
local ways = {}
function ways.none() end
function ways.module() package.loaded["a.module"] = m end
function ways.global() aglobal = m.call end
function ways.table() package.loaded["a.module"] = { api = m } end
function ways.globals() vimlike = { api = m } end
function ways.deep() vimlike = { api = { sub = m } } end
function ways.several()
  aglobal, minetest, core, corf, outer = m.call, m, m, m, { m = m }
end
function ways.cycle()
  local t = setmetatable({ call = m.call }, { __index = error, __metatable = false })
  t.t, t.g, t.loaded, cyclic = t, _G, package.loaded, t
end
function ways.data() data = { ["GET /"] = m.call, [1] = m.call, ["a\0b"] = m.call } end
function ways.large()
  large = { call = m.call }
  for i = 1, 5000 do large["key" .. i] = i end
end

ways[arg[2]]()
local r = m.call(stop)
assert(r)
