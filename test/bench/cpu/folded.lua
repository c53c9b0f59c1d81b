-- Reads folded stacks: "ROOT;...;LEAF COUNT". All that this benchmark knows of
-- how profilers write frames is here.

local folded = {}

-- A frame of lj-sysprof, as a table: `kind`, and of
--   lua      NAME@CHUNK:LINE, or @CHUNK:LINE; ~LINE: approximate
--            name (or nil), chunk (without folders), line, approx
--   builtin  NAME [builtin]             name; of cbench: native
--   kernel   SYMBOL_[k]                 name
--   native   SYMBOL (MODULE)            name, module; SYMBOL may be (CLASS)
--            [MODULE+0xOFFSET]          module, offset
--   mark     (WHY)                      name
local function sysprof_frame(s)
  local name, chunk, mark, line, module, offset
  if s:find("^%([^()]*%)$") then
    return { kind = "mark", name = s }
  end
  name = s:match("^(.+)_%[k%]$")
  if name then
    return { kind = "kernel", name = name }
  end
  -- The benchmark's own C functions are asked for by their symbols.
  name = s:match("^cbench%.(%w+) %[builtin%]$")
  if name then
    return { kind = "native", name = "cb_" .. name, module = "cbench.so" }
  end
  name = s:match("^(.+) %[builtin%]$")
  if name then
    return { kind = "builtin", name = name }
  end
  module, offset = s:match("^%[([^%]]*)%+0x(%x+)%]$")
  if module then
    return { kind = "native", module = module, offset = tonumber(offset, 16) }
  end
  name, module = s:match("^(.+) %(([^()]*)%)$")
  if name then
    return { kind = "native", name = name:gsub("[@+].*", ""), module = module }
  end
  name, chunk, mark, line = s:match("^(.-)@(.+):(~?)(%d+)$")
  if chunk then
    return {
      kind = "lua", chunk = chunk:gsub(".*/", ""), line = tonumber(line),
      name = name ~= "" and name:gsub(".*[.:]", "") or nil, approx = mark ~= "",
    }
  end
  return { kind = "unknown", name = s }
end

-- A frame of jit.p, in its mode "Gl": CHUNK:LINE, or something of a C function.
local function jp_frame(s)
  local chunk, line = s:match("^(.+):(%d+)$")
  if chunk then
    return { kind = "lua", chunk = chunk:gsub(".*/", ""), line = tonumber(line), approx = false }
  end
  return { kind = "builtin", name = s }
end

-- Reads a file. Calls take(frames, count) for each stack, frames from the root
-- on; a frame is the same table wherever its text is the same. Returns the
-- number of lines that are no stack.
function folded.read(path, format, take)
  local parse = format == "jp" and jp_frame or sysprof_frame
  local known, bad = {}, 0
  for line in io.lines(path) do
    local stack, count = line:match("^(.*%S)%s+(%d+)$")
    if stack then
      local frames = {}
      for s in stack:gmatch("[^;]+") do
        local frame = known[s] or parse(s)
        known[s] = frame
        frames[#frames + 1] = frame
      end
      take(frames, tonumber(count))
    else
      bad = bad + 1
    end
  end
  return bad
end

return folded
