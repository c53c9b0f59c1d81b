-- JSON in Lua: encodes, decodes, compares. arg[1]: the rounds.

local rounds = tonumber(arg and arg[1]) or 100

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n" }
local unescapes = { ['"'] = '"', ["\\"] = "\\", n = "\n" }

local encode

local function encode_object(o)
  local keys, parts = {}, {}
  for k in pairs(o) do keys[#keys + 1] = k end
  table.sort(keys)
  for i, k in ipairs(keys) do parts[i] = encode(k) .. ":" .. encode(o[k]) end
  return "{" .. table.concat(parts, ",") .. "}"
end

function encode(v)
  local t = type(v)
  if t == "string" then return '"' .. v:gsub('["\\\n]', escapes) .. '"' end
  if t ~= "table" then return tostring(v) end
  if #v == 0 then return encode_object(v) end
  local parts = {}
  for i, e in ipairs(v) do parts[i] = encode(e) end
  return "[" .. table.concat(parts, ",") .. "]"
end

local decode

local function decode_string(s, i)
  local parts = {}
  while true do
    local j = s:find('["\\]', i)
    parts[#parts + 1] = s:sub(i, j - 1)
    if s:sub(j, j) == '"' then return table.concat(parts), j + 1 end
    parts[#parts + 1] = unescapes[s:sub(j + 1, j + 1)]
    i = j + 2
  end
end

local function decode_list(s, i)
  local list = {}
  while s:sub(i, i) ~= "]" do
    list[#list + 1], i = decode(s, i)
    if s:sub(i, i) == "," then i = i + 1 end
  end
  return list, i + 1
end

local function decode_object(s, i)
  local o = {}
  while s:sub(i, i) ~= "}" do
    local k
    k, i = decode_string(s, i + 1)
    o[k], i = decode(s, i + 1)
    if s:sub(i, i) == "," then i = i + 1 end
  end
  return o, i + 1
end

local literals = { t = true, f = false }

function decode(s, i)
  local c = s:sub(i, i)
  if c == '"' then return decode_string(s, i + 1) end
  if c == "[" then return decode_list(s, i + 1) end
  if c == "{" then return decode_object(s, i + 1) end
  local word, j = s:match("^([%w.+-]+)()", i)
  local v = tonumber(word)
  if v == nil then v = literals[c] end
  return v, j
end

local length = 0
for r = 1, rounds do
  local data = {}
  for i = 1, 20 do
    data[i] = { id = i * r, name = 'item "' .. i .. '"\n', on = i % 2 == 0,
                tags = { "a" .. i, "b" .. r, i / 4 }, sub = { x = { y = { z = r } } } }
  end
  local text = encode(data)
  local again = encode((decode(text, 1)))
  assert(again == text)
  length = length + #text
end
print("json", length)
