-- A server with one handler of ten that escapes texts by a pattern. The work is
-- done in C and in the VM.

local entities = {["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;"}

local function escape(text)
  return (text:gsub("[<>&]", entities)) -- GUILTY
end

local function page(n)
  local out = {}
  for i = 1, 30 do
    out[i] = escape("<b>" .. n .. "</b> & <i>" .. i .. "</i> and more text")
  end
  return table.concat(out)
end

local function status(n) return "ok " .. n end
local function number(n) return tostring(n * 2) end

local handlers = {page, status, number, status, number, status, number, status,
                  number, status}

local deadline, n, bytes = os.clock() + 2, 0, 0
while os.clock() < deadline do
  for _ = 1, 100 do -- The clock may be a system call.
    n = n + 1
    bytes = bytes + #handlers[n % #handlers + 1](n)
  end
end
assert(bytes > 0)
