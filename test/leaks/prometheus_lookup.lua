-- The memory of a worker grows with the values of labels:
-- https://github.com/knyar/nginx-lua-prometheus/pull/151
--
-- Full names of metrics are cached in tables of tables, a level for each label.
--
-- SAYS: is kept by _G.requests.lookup
-- SAYS: 4000 x table

local Metric = {}
Metric.__index = Metric

local function full_name(name, values)
  local labels = 'path="' .. values[1] .. '",code="' .. values[2] .. '"'
  return name .. "{" .. labels .. "}"
end

function Metric:inc(values)
  local t = self.lookup
  for i = 1, #values - 1 do
    t[values[i]] = t[values[i]] or {} -- GUILTY
    t = t[values[i]]
  end
  local last = values[#values]
  t[last] = t[last] or full_name(self.name, values)
end

requests = setmetatable({name = "http_requests_total", lookup = {}}, Metric)
for i = 1, 4000 do requests:inc({"/user/" .. i, "200"}) end
dump()
