-- Two releases of one program. The second one remembers what it has parsed, and
-- never forgets.

local remembers = os.getenv "RELEASE" == "2"
local parsed = {}

local function parse(text)
  local fields = {}
  for key, value in text:gmatch "(%w+)=(%w+)" do fields[key] = value end
  return fields
end

local function lookup(text)
  local fields = parse(text)
  if remembers then
    parsed[#parsed + 1] = {text = text, fields = fields, hits = {0, 0, 0, 0}} -- GUILTY
  end
  return fields
end

local history = {}
for i = 1, 3000 do history[i] = {i, "event " .. i} end

local found = 0
for i = 1, 20000 do
  local fields = lookup("id=" .. i .. " user=u" .. i % 50 .. " action=read")
  if fields.user then found = found + 1 end
end
assert(found == 20000)
