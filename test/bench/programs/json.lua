-- JSON: an encoder and a decoder in Lua, over nested documents.

local encode

local escapes = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n"}

local function quote(s)
  return '"' .. s:gsub('["\\\n]', escapes) .. '"'
end

local function encode_table(t)
  local parts = {}
  if #t > 0 then
    for i = 1, #t do
      parts[i] = encode(t[i])
    end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for key, value in pairs(t) do
    parts[#parts + 1] = quote(key) .. ":" .. encode(value)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

function encode(v)
  if type(v) == "table" then
    return encode_table(v)
  end
  return type(v) == "string" and quote(v) or tostring(v)
end

local decode

local function decode_string(s, i)
  local j = s:find('"', i + 1, true)
  return s:sub(i + 1, j - 1), j + 1
end

local function decode_list(s, i, close, item)
  local t = {}
  i = i + 1
  while s:sub(i, i) ~= close do
    i = item(t, s, i)
    if s:sub(i, i) == "," then
      i = i + 1
    end
  end
  return t, i + 1
end

local function element(t, s, i)
  t[#t + 1], i = decode(s, i)
  return i
end

local function member(t, s, i)
  local key
  key, i = decode_string(s, i)
  t[key], i = decode(s, i + 1)
  return i
end

function decode(s, i)
  local c = s:sub(i, i)
  if c == "{" then
    return decode_list(s, i, "}", member)
  elseif c == "[" then
    return decode_list(s, i, "]", element)
  elseif c == '"' then
    return decode_string(s, i)
  end
  local word = s:match("^[%w.+-]+", i)
  return tonumber(word) or word == "true", i + #word
end

local document = {}
for i = 1, 40 do
  document[i] = {id = i, name = "user" .. i, tags = {"a", "b" .. i},
                 nested = {x = i / 2, ok = i % 2 == 0}}
end
local length = 0
for _ = 1, 3000 do
  local text = encode(document)
  length = length + #text
  document = decode(text, 1)
end
print(length)
