-- The text report, computed a second time: from the decoder's events, by the
-- words of the design, to be compared byte for byte with lj-parse-memprof.

local M = {}

-- Labels ----------------------------------------------------------------------

-- How many bytes the UTF-8 character at I of S has, or 1 for a byte that begins none.
local function utf8_length(s, i)
  local c, c2 = s:byte(i, i + 1)
  local n = c < 0xc2 and 1 or c < 0xe0 and 2 or c < 0xf0 and 3 or c < 0xf5 and 4 or 1
  if n == 1 or not s:find("^" .. ("[\128-\191]"):rep(n - 1), i + 1) then return 1 end
  if c == 0xe0 and c2 < 0xa0 or c == 0xed and c2 > 0x9f or
     c == 0xf0 and c2 < 0x90 or c == 0xf4 and c2 > 0x8f then
    return 1
  end
  return n
end

local function hex(s)
  return (s:gsub(".", function(c) return ("\\x%02x"):format(c:byte()) end))
end

-- Escapes what controls a terminal: ASCII's control characters, U+0080 to U+009F,
-- and their single bytes outside of UTF-8.
local function escape(s)
  local out, i = {}, 1
  while i <= #s do
    local n = utf8_length(s, i)
    local char = s:sub(i, i + n - 1)
    if char == "\n" then
      out[#out + 1] = "\\n"
    elseif char:find("^%c") or char:find("^[\128-\159]$") or char:find("^\194[\128-\159]$") then
      out[#out + 1] = hex(char)
    else
      out[#out + 1] = char
    end
    i = i + n
  end
  return table.concat(out)
end

-- The VM itself is asked for the short form of a chunk's name.
local function chunk_label(chunk)
  local fn = loadstring("", (chunk:gsub("%z.*", "")))
  local short = debug.getinfo(fn, "S").short_src
  return (chunk:sub(1, 1) == "@" and "@" or "") .. escape(short)
end

local function lua_label(chunk, first, addr, func)
  if not chunk then return ("@?:0x%x"):format(addr) end
  if first < 0 then return ("[builtin:%s]"):format(escape(chunk)) end
  local hash = func and func.byhash and ("#%08x"):format(func.hash) or ""
  return ("%s:%d%s"):format(chunk_label(chunk), first, hash)
end

local function line_label(site, approx)
  return (", %sline %s"):format(approx and "~" or "", site.line == 0 and "?" or site.line)
end

local function c_label(site)
  if site.named then return escape(site.named) end
  local label = "[C] "
  if site.symbol and site.symbol ~= "" then
    label = label .. escape(site.symbol)
  else
    label = label .. ("0x%x"):format(site.offset or site.addr)
  end
  local module = site.module and site.module:match("([^/]+)$")
  return module and ("%s (%s)"):format(label, escape(module)) or label
end

-- What a row is called, and the name of its function.
local function label(site)
  if site.source == "internal" then return "INTERNAL" end
  if site.source == "unknown" then return "(unknown)" end
  if site.source == "before" then return "(before start)" end
  if site.source == "c" then return c_label(site) end
  local l = lua_label(site.chunk, site.first, site.addr, site.func and site.func.start or site.func)
  if site.source == "trace" then
    return ("TRACE [%d] started at %s%s"):format(site.traceno, l, line_label(site, false))
  end
  return l .. line_label(site, site.approx), site.name
end

-- Books -------------------------------------------------------------------------

local before = { source = "before" }

-- A row is a line of a function: by chunk name and first line, and by its
-- bytecode, if that is told. Short forms of two chunk names may be the same.
local function key_of(site, text)
  local hash = site.source == "lua" and site.func and site.func.hash or ""
  return ("%s\0%s\0%s"):format(text, tostring(site.chunk), tostring(hash))
end

-- Takes events, gives the report.
function M.new()
  local report = { rows = {}, by_site = {}, by_key = {}, live = {} }

  local function row_of(site)
    local row = report.by_site[site]
    if not row then
      local text, name = label(site)
      local key = key_of(site, text)
      row = report.by_key[key]
      if not row then
        row = { text = text, age = #report.rows + 1, n = {}, bytes_in = {}, bytes_out = {},
                takes = { realloc = {}, free = {} }, arrived = 0, left = 0, holds = 0 }
        for _, kind in ipairs({ "alloc", "realloc", "free" }) do
          row.n[kind], row.bytes_in[kind], row.bytes_out[kind] = 0, 0, 0
        end
        report.by_key[key] = row
        report.rows[row.age] = row
      end
      row.name = row.name or name
      report.by_site[site] = row
    end
    return row
  end

  local live = report.live

  function report.event(e)
    local row, kind = row_of(e.site), e.kind
    row.n[kind] = row.n[kind] + 1
    row.bytes_in[kind] = row.bytes_in[kind] + e.nsize
    row.bytes_out[kind] = row.bytes_out[kind] + e.osize
    if e.oaddr then
      local owner = live[e.oaddr] or row_of(before)
      live[e.oaddr] = nil
      row.takes[kind][owner] = (row.takes[kind][owner] or 0) + 1
      owner.left = owner.left + 1
      owner.holds = owner.holds - e.osize
    end
    if e.naddr then
      live[e.naddr] = row
      row.arrived = row.arrived + 1
      row.holds = row.holds + e.nsize
    end
  end

  -- Rows by their numbers, largest first, then by name.
  local function sorted(rows, number)
    local list = {}
    for _, row in pairs(rows) do
      if number(row) > 0 then list[#list + 1] = row end
    end
    table.sort(list, function(a, b)
      local x, y = number(a), number(b)
      if x ~= y then return x > y end
      if a.text ~= b.text then return a.text < b.text end
      return a.age < b.age
    end)
    return list
  end

  local function suffix(row)
    return row.name and (" (%s)"):format(escape(row.name)) or ""
  end

  local function section(out, title, kind)
    out[#out + 1] = title
    local n = 0
    for _, row in ipairs(sorted(report.rows, function(r) return r.n[kind] end)) do
      n = n + 1
      out[#out + 1] = ("%s: %d %d %d%s"):format(row.text, row.n[kind], row.bytes_in[kind],
                                                row.bytes_out[kind], suffix(row))
      local takes = row.takes[kind]
      if takes then
        out[#out + 1] = "\tOverrides:"
        local owners = {}
        for owner in pairs(takes) do owners[#owners + 1] = owner end
        for _, owner in ipairs(sorted(owners, function(r) return takes[r] end)) do
          out[#out + 1] = "\t\t" .. owner.text
        end
        out[#out + 1] = ""
      end
    end
    if kind == "alloc" or n == 0 then out[#out + 1] = "" end
  end

  -- live_at_start: the bytes of older objects, if the stream tells.
  function report.text(live_at_start)
    local out = {}
    section(out, "ALLOCATIONS", "alloc")
    section(out, "REALLOCATIONS", "realloc")
    section(out, "DEALLOCATIONS", "free")
    out[#out + 1] = "HEAP SUMMARY"
    local old = row_of(before)
    old.holds = live_at_start and old.holds + live_at_start or 0
    for _, row in ipairs(sorted(report.rows, function(r) return r.holds end)) do
      out[#out + 1] = ("%s holds %d bytes: %d allocations, %d deallocations%s"):format(
        row.text, row.holds, row.arrived, row.left, suffix(row))
    end
    return table.concat(out, "\n") .. "\n"
  end

  return report
end

return M
