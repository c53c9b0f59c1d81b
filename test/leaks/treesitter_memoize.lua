-- Memory grows with each key that is pressed:
-- https://github.com/nvim-treesitter/nvim-treesitter/issues/2918
--
-- What was computed for a buffer is cached by the root of its tree, which is
-- another one after each change. No entry is ever removed.
--
-- SAYS: is kept by registry._LOADED["ts.indent"].indents:cache

package.preload["ts.indent"] = function()
  local M = {}

  local function memoize(fn)
    local cache = {}
    return function(root, tick)
      local hit = cache[root]
      if not hit or hit.tick ~= tick then
        hit = {result = fn(root), tick = tick}
        cache[root] = hit
      end
      return hit.result
    end
  end

  M.indents = memoize(function(root)
    local map = {}
    for i = 1, 60 do
      map[i] = {row = i, root = root} -- GUILTY
    end
    return map
  end)
  return M
end

for tick = 1, 200 do require("ts.indent").indents({tick = tick}, tick) end
dump()
