-- The memory of a worker grows by a cache for each request:
-- https://github.com/Kong/kong/issues/3565
--
-- A cache is looked up by its configuration, which each request decodes again.
-- That table has weak keys, but a cache refers to its configuration.
--
-- SAYS: is kept by main thread<local ua_caches>
-- SAYS: 300 of 300 keys of main thread<local ua_caches>, a table with weak keys, are kept only by values

local lrucache = {}
lrucache.__index = lrucache

function lrucache.new(config, size)
  local cache = setmetatable({config = config, slots = {}}, lrucache)
  for i = 1, size do
    cache.slots[i] = {next = i + 1} -- GUILTY
  end
  return cache
end

local ua_caches = setmetatable({}, {__mode = "k"})

local function handle(config)
  local cache = ua_caches[config]
  if not cache then
    cache = lrucache.new(config, 50)
    ua_caches[config] = cache
  end
  return cache
end

for _ = 1, 300 do handle({whitelist = {}, blacklist = {"bot"}}) end
dump()
