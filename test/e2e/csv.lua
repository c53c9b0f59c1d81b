-- Reads what lj-parse-memprof --format=csv prints.
local csv = {}

-- The fields of a line of CSV; none of ours has a line break in it.
local function fields(line)
  local t, rest = {}, line .. ","
  while rest ~= "" do
    local quoted, after = rest:match('^"(.-[^"])",(.*)$')
    if not quoted then
      quoted, after = rest:match("^([^,]*),(.*)$")
    end
    t[#t + 1], rest = quoted, after
  end
  return t
end

-- The rows of a file, each a table by column.
function csv.read(path)
  local keys, rows = nil, {}
  for line in io.lines(path) do
    local row = {}
    for i, field in ipairs(fields(line)) do
      row[keys and keys[i] or i] = field
    end
    if keys then
      rows[#rows + 1] = row
    else
      keys = row
    end
  end
  return rows
end

return csv
