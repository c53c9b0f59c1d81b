-- Each change of the mode keeps some hundred KB:
-- https://github.com/ibhagwan/fzf-lua/issues/723
--
-- A registry has callbacks of all windows that were ever open, and these have
-- the options and the results.
--
-- SAYS: is kept by registry._LOADED["fzf-lua.shell"].registry
-- SAYS: 200 x table {query, results}

package.preload["fzf-lua.shell"] = function()
  local M = {registry = {}}
  function M.register(fn) M.registry[#M.registry + 1] = fn end
  return M
end

local function grep(query)
  local opts = {query = query, results = {}}
  for i = 1, 50 do
    opts.results[i] = query .. ":" .. i .. ": a line" -- GUILTY
  end
  require("fzf-lua.shell").register(function() return opts end)
end

for i = 1, 200 do grep("query" .. i) end
dump()
