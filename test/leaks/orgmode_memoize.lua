-- Memory grows as files are edited:
-- https://github.com/nvim-orgmode/orgmode/pull/1179
--
-- A cache has weak keys, which are names of files, and strings are never weak.
-- What it has of a file are the trees of all its versions.
--
-- SAYS: is kept by main thread<local cache>
-- SAYS: 20 of 20 keys of main thread<local cache>, a table with weak keys, are no objects

local cache = setmetatable({}, {__mode = "k"})

local function parse(file, version)
  local tree = {file = file, version = version, nodes = {}}
  for i = 1, 40 do
    tree.nodes[i] = {kind = "heading", row = i} -- GUILTY
  end
  return tree
end

local function memoize(file, version)
  local entry = cache[file.name]
  if not entry then
    entry = {}
    cache[file.name] = entry
  end
  entry[version] = entry[version] or parse(file, version)
  return entry[version]
end

for f = 1, 20 do
  local file = {name = "notes" .. f .. ".org"}
  for version = 1, 30 do memoize(file, version) end
end
dump()
