-- Judges a profile by what is true:
--
--   luajit score.lua [-jnv] [-r ROOTS] [-R NAME] [-F HZ] TRUTH FOLDED
--
-- TRUTH is what a program of this benchmark printed, FOLDED what a profiler
-- did: of lj-sysprof, or of jit.p with -j. ROOTS has lines "MODULE LO HI", in
-- hexadecimal: outermost functions, for modules without symbols; NAME is one
-- more. -n is for programs that do more than run Lua: stacks without Lua count
-- as the rest of the CPU time. Prints lines "KEY VALUE", shares in percent; - is
-- for what cannot be told.
--
--   samples         all of them
--   function_error  half the L1 distance of self time by Lua function
--   line_error      the same by line
--   complete        stacks that reach the outermost function, without a mark
--   chain           stacks with just the Lua (and named C) frames expected
--   prefix          stacks with an expected chain, but for its inner end
--   named           innermost Lua frames with the right name for their line
--   lua             stacks with any Lua frame
--   approximate     innermost Lua frames whose line is approximate
--   coverage        samples / (HZ * CPU time)
--   mark:WHY        stacks with that mark
-- -v also prints each function and line: name, true share, measured share; and
-- some stacks that are not as expected.

local folded = require("folded")

local HARNESS = "truth.lua" -- Its frames are nobody's business.

local usage = "usage: score.lua [-jnv] [-r ROOTS] [-R NAME] [-F HZ] TRUTH FOLDED\n"

local function words(line)
  local t = {}
  for w in line:gmatch("%S+") do
    t[#t + 1] = w
  end
  return t
end

-- -- Truth -------------------------------------------------------------------

-- The elements of a chain: { name = NAME, kind = lua, native or builtin }.
local function read_chain(w)
  local chain = { wanted = {} }
  for i = 3, #w do
    local name, times = w[i]:match("^(.-)%*(%d+)$")
    name = name or w[i]
    local kind = name:match("^c:") and "native" or name:match("^b:") and "builtin" or "lua"
    name = name:gsub("^[cb]:", "")
    for _ = 1, tonumber(times) or 1 do
      chain[#chain + 1] = { kind = kind, name = name }
    end
    if kind ~= "lua" then
      chain.wanted[kind .. name] = true
    end
  end
  return chain
end

local function add(t, key, n)
  t[key] = (t[key] or 0) + n
end

local function read_truth(path)
  local truth = { functions = {}, lines = {}, places = {}, chains = {}, cpu = 0 }
  for line in io.lines(path) do
    local w = words(line)
    if w[1] == "truth" and w[2] == "function" then
      add(truth.functions, w[3], tonumber(w[4]))
      table.insert(truth.places, { name = w[3], chunk = w[5], first = tonumber(w[6]), last = tonumber(w[7]) })
    elseif w[1] == "truth" and w[2] == "line" then
      add(truth.lines, w[5] .. ":" .. w[3], tonumber(w[4]))
    elseif w[1] == "truth" and w[2] == "chain" then
      table.insert(truth.chains, read_chain(w))
    elseif w[1] == "truth" and w[2] == "cpu" then
      truth.cpu = truth.cpu + tonumber(w[3])
    end
  end
  if truth.cpu == 0 then
    error(path .. ": no truth", 0)
  end
  return truth
end

-- Shares in percent of what was measured; the rest of the CPU time is the
-- harness's.
local function shares(t, whole)
  local result, sum = {}, 0
  for _, n in pairs(t) do
    sum = sum + n
  end
  whole = math.max(whole, sum)
  for key, n in pairs(t) do
    result[key] = 100 * n / whole
  end
  result["(rest)"] = 100 * (whole - sum) / whole
  return result
end

-- -- Stacks ------------------------------------------------------------------

-- The place in the program's text that has this line, if truth knows it. A
-- chunk that ends in * is all those that begin so.
local function place_of(truth, frame)
  for _, place in ipairs(truth.places) do
    local start = place.chunk:match("^(.*)%*$")
    if (place.chunk == frame.chunk or start and frame.chunk:sub(1, #start) == start) and
      frame.line >= place.first and frame.line <= place.last then
      return place
    end
  end
end

local function name_of(truth, frame)
  if frame.chunk == HARNESS then
    return "(rest)"
  end
  local place = place_of(truth, frame)
  return frame.name or place and place.name or "?"
end

local function line_of(truth, frame)
  if frame.chunk == HARNESS then
    return "(rest)"
  end
  local place = place_of(truth, frame)
  return (place and place.chunk or frame.chunk) .. ":" .. frame.line
end

local outermost = { _start = true, clone = true, __clone = true, clone3 = true, __clone3 = true }

local function is_root(roots, frame)
  if frame.kind ~= "native" then
    return false
  elseif frame.name then
    return outermost[frame.name] or false
  end
  for _, r in ipairs(roots) do
    if r.module == frame.module and frame.offset >= r.lo and frame.offset < r.hi then
      return true
    end
  end
  return false
end

-- How many elements of the chain the stack has, from its first to the innermost
-- of its frames that matter; nil if one is not as expected.
local function match(truth, chain, frames)
  local i = 0
  for _, frame in ipairs(frames) do
    local name
    if frame.kind == "lua" then
      name = name_of(truth, frame)
      name = name ~= "(rest)" and name or nil
    elseif chain.wanted[frame.kind .. tostring(frame.name)] then
      name = frame.name
    end
    local want = chain[i + 1]
    if name and want and want.kind == frame.kind and want.name == name then
      i = i + 1
    elseif name and i > 0 then
      return nil
    end
  end
  return i
end

-- "chain", "prefix" or nil: the best that one of the chains says.
local function expected(truth, frames)
  local best
  for _, chain in ipairs(truth.chains) do
    local n = match(truth, chain, frames)
    if n == #chain then
      return "chain"
    elseif n and n > 0 then
      best = "prefix"
    end
  end
  return best
end

local function innermost_lua(frames)
  for i = #frames, 1, -1 do
    if frames[i].kind == "lua" then
      return frames[i]
    end
  end
end

-- -- Scores ------------------------------------------------------------------

-- Adds one stack to the books.
local function count_stack(books, truth, roots, frames, n)
  local leaf, marks = innermost_lua(frames), false
  books.samples = books.samples + n
  for _, frame in ipairs(frames) do
    if frame.kind == "mark" then
      add(books.marks, (frame.name:gsub("%s+", "_")), n)
      marks = true
    end
  end
  if not marks and is_root(roots, frames[1]) then
    add(books.n, "complete", n)
  end
  local name = leaf and name_of(truth, leaf) or books.nolua
  add(books.functions, name, n)
  add(books.lines, leaf and line_of(truth, leaf) or books.nolua, n)
  if leaf then
    local place = place_of(truth, leaf)
    add(books.n, "lua", n)
    add(books.n, "placed", place and n or 0)
    add(books.n, "named", place and leaf.name == place.name and n or 0)
    add(books.n, "approximate", leaf.approx and n or 0)
  end
  if name ~= "(rest)" then
    local what = expected(truth, frames)
    add(books.n, "judged", n)
    if what then
      add(books.n, what, n)
    end
    if what ~= "chain" then
      books.odd[#books.odd + 1] = { n = n, frames = frames }
    end
  end
end

local function distance(want, got)
  local sum = 0
  for key, share in pairs(want) do
    sum = sum + math.abs(share - (got[key] or 0))
  end
  for key, share in pairs(got) do
    sum = sum + (want[key] and 0 or share)
  end
  return sum / 2
end

local function say(key, value)
  io.write(key, " ", value and value == value and string.format("%.2f", value) or "-", "\n")
end

local function percent(n, of)
  return of and of > 0 and 100 * (n or 0) / of or nil
end

local function show(title, want, got)
  local keys = {}
  for key in pairs(want) do keys[#keys + 1] = key end
  for key in pairs(got) do
    if not want[key] then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b) return (got[a] or 0) > (got[b] or 0) end)
  for i = 1, math.min(#keys, 20) do
    local key = keys[i]
    io.write(string.format("# %s %-24s %6.2f %6.2f\n", title, key, want[key] or 0, got[key] or 0))
  end
end

local function show_odd(odd)
  table.sort(odd, function(a, b) return a.n > b.n end)
  for i = 1, math.min(#odd, 5) do
    local s = {}
    for k, f in ipairs(odd[i].frames) do
      s[k] = f.kind == "lua" and (f.name or "") .. "@" .. f.chunk .. ":" .. f.line or
        f.kind .. ":" .. (f.name or f.module)
    end
    io.write("# odd ", odd[i].n, " ", table.concat(s, ";"), "\n")
  end
end

local function read_roots(path)
  local roots = {}
  for line in path and io.lines(path) or function() end do
    local module, lo, hi = line:match("^(%S+) (%x+) (%x+)$")
    if module then
      table.insert(roots, { module = module, lo = tonumber(lo, 16), hi = tonumber(hi, 16) })
    end
  end
  return roots
end

local function options(args)
  local o, i = { format = "sysprof" }, 1
  while args[i] and args[i]:find("^%-.") do
    if args[i] == "-j" then o.format = "jp"
    elseif args[i] == "-n" then o.nolua = "(rest)"
    elseif args[i] == "-v" then o.verbose = true
    elseif args[i] == "-R" and args[i + 1] then i = i + 1 outermost[args[i]] = true
    elseif args[i] == "-r" and args[i + 1] then i = i + 1 o.roots = args[i]
    elseif args[i] == "-F" and tonumber(args[i + 1]) then i = i + 1 o.hz = tonumber(args[i])
    else io.stderr:write(usage) os.exit(64) end
    i = i + 1
  end
  o.truth, o.folded = args[i], args[i + 1]
  if not o.folded or args[i + 2] then
    io.stderr:write(usage)
    os.exit(64)
  end
  return o
end

local o = options(arg)
local readable, truth = pcall(read_truth, o.truth)
if not readable then
  io.stderr:write("score.lua: ", truth, "\n")
  os.exit(2)
end
local roots = read_roots(o.roots)
local books = {
  nolua = o.nolua or "(none)", samples = 0, n = {}, functions = {}, lines = {}, marks = {}, odd = {},
}
local bad = folded.read(o.folded, o.format, function(frames, n)
  count_stack(books, truth, roots, frames, n)
end)

local n, samples = books.n, books.samples
say("samples", samples)
local want, got = shares(truth.functions, truth.cpu), shares(books.functions, samples)
got["(rest)"] = percent(books.functions["(rest)"], samples) or 0
say("function_error", samples > 0 and distance(want, got) or nil)
local want_line, got_line = shares(truth.lines, truth.cpu), shares(books.lines, samples)
got_line["(rest)"] = percent(books.lines["(rest)"], samples) or 0
say("line_error", samples > 0 and next(truth.lines) and distance(want_line, got_line) or nil)
local whole = o.format == "sysprof" -- It has native frames, and names.
say("complete", whole and percent(n.complete, samples))
say("chain", whole and percent(n.chain, n.judged))
say("prefix", whole and percent(n.prefix, n.judged))
say("named", whole and percent(n.named, n.placed))
say("lua", percent(n.lua, samples))
say("approximate", percent(n.approximate, n.lua))
say("coverage", o.hz and percent(samples, o.hz * truth.cpu) or nil)
for why, count in pairs(books.marks) do
  say("mark:" .. why, percent(count, samples))
end
if bad > 0 then
  say("bad_lines", bad)
end
if o.verbose then
  show("function", want, got)
  show("line", want_line, got_line)
  show_odd(books.odd)
end
