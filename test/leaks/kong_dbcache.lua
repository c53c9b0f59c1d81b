-- Memory grows by 1 GB a week: https://github.com/Kong/kong/issues/2194
--
-- The cache of a worker has no limit: its entries expire, and are never removed.
--
-- SAYS: is kept by registry._LOADED["kong.tools.database_cache"].get:cache
-- SAYS: 4000 x table {expires, value}

package.preload["kong.tools.database_cache"] = function()
  local cache = {}
  return {
    get = function(key, now, load)
      local entry = cache[key]
      if not entry or entry.expires <= now then
        entry = {value = load(key), expires = now + 60}
        cache[key] = entry
      end
      return entry.value
    end,
  }
end

local function load_consumer(key)
  return {id = key, groups = {"a", "b"}, created = #key} -- GUILTY
end

for now = 1, 4000 do
  require("kong.tools.database_cache").get("consumer:" .. now, now, load_consumer)
end
dump()
