-- What all recorder tests share: record, decode, check the books, find events.
--
--   luajit cases/X.lua [format [jit [directory]]]
--
-- Every recording's books are checked, whatever else a case is about: the sum
-- of all events is the change of the VM's own count, and no address is
-- allocated or freed twice.
--
-- Code under test is written as a template (see H.code): on each line, $cdata,
-- $string, $array and $table allocate something whose size says which line it
-- is, and the recording has to name that line.

local H = {}

local decode = require("decode")

local has_ffi, ffi = pcall(require, "ffi")
local has_jit = (jit.status()) -- Before anything switches it off.
local jutil = require("jit.util")
local tabnew = require("table.new")
local memprof = misc.memprof
-- The recorder is the module's, for VMs that were not patched.
H.module = package.loaded.memprof == memprof

H.format = arg[1] or "compact"
H.jit = (arg[2] or "off") == "on"
H.dir = arg[3] or os.getenv("TMPDIR") or "/tmp"
H.name = arg[0]:match("([^/]+)%.lua$")
H.has_ffi, H.has_jit = has_ffi, has_jit
H.luajit = arg[-1]
-- Before a program that was built here, in shell code: an emulator, or "".
H.emulator = os.getenv("LJPROF_EMULATOR") or ""
H.gc64 = has_ffi and ffi.abi("gc64")
H.compact = H.format == "compact"

-- CTest's SKIP_RETURN_CODE.
function H.skip(why)
  print("SKIP: " .. why)
  os.exit(77, true)
end

if H.jit and not has_jit then H.skip("no JIT compiler") end

-- Checks ----------------------------------------------------------------------

local failures, checks, current = 0, 0, "?"

local function report_failure(what, ...)
  failures = failures + 1
  if failures <= 40 then
    io.stderr:write(string.format("FAILED %s: %s\n", current, string.format(what, ...)))
  end
end

function H.ok(cond, what, ...)
  checks = checks + 1
  if not cond then report_failure(what, ...) end
  return cond
end

local function show(v)
  return type(v) == "string" and string.format("%q", v) or tostring(v)
end

function H.eq(got, expected, what, ...)
  checks = checks + 1
  if got ~= expected then
    report_failure("%s is %s, expected %s", string.format(what, ...), show(got), show(expected))
  end
  return got == expected
end

function H.case(name, fn)
  current = name
  local before = failures
  local ok, err = xpcall(fn, debug.traceback)
  if memprof.is_running() then memprof.stop() end
  if not ok then report_failure("%s", tostring(err)) end
  print((failures == before and "ok      " or "FAILED  ") .. name)
end

-- Ends a test's program.
function H.done()
  print(string.format("%s %s jit=%s: %d checks, %d failures", H.name, H.format,
                      H.jit and "on" or "off", checks, failures))
  if checks == 0 then print("nothing was checked") end
  os.exit(failures == 0 and checks > 0 and 0 or 1, true)
end

-- Recording -------------------------------------------------------------------

local function jit_switch(on)
  if has_jit then
    if on then jit.on() else jit.off() end
  end
end
H.jit_switch = jit_switch

if H.jit then jit.opt.start("hotloop=4", "hotexit=3") end
jit_switch(H.jit)

-- For functions that must not be compiled, because that allocates.
local function off(fn)
  if has_jit then jit.off(fn, true) end
  return fn
end
H.off = off

-- Of this test alone, even while it changes H.jit.
local mode = H.jit and "on" or "off"

function H.path(suffix)
  return string.format("%s/%s-%s-%s%s", H.dir, H.name, H.format, mode, suffix or ".bin")
end

-- The bytes on the VM's heap, exactly.
local function count()
  return collectgarbage("count") * 1024
end
off(count)
H.count = count

-- Whether the decoder may be compiled: it is too much for the register
-- allocator that LuaJIT had for arm64 until August 2023, and crashes now and then.
H.decoder_jit = jit.arch ~= "arm64"

-- Decodes in full speed, whatever the test itself does.
local function decode_file(path)
  jit_switch(H.decoder_jit)
  local s = decode.list(decode.slurp(path))
  jit_switch(H.jit)
  return s
end
H.decode_file = decode_file

-- Records a call of fn. opt: buffer, format, lines, stack, sample, seed,
-- unknown (how many events may be
-- of unknown origin; 0 by default). Returns the decoded stream.
function H.record(fn, opt)
  opt = opt or {}
  local path = H.path()
  local start_opt = { format = opt.format or H.format, buffer = opt.buffer, lines = opt.lines,
    stack = opt.stack, sample = opt.sample, seed = opt.seed }
  local start, stop = memprof.start, memprof.stop
  jit_switch(H.jit)
  collectgarbage()
  collectgarbage()
  local before = count()
  local started, msg = start(path, start_opt)
  if not started then error(msg) end
  local ok, err = pcall(fn)
  local stopped, smsg = stop()
  local after = count()
  if not ok then error(err, 0) end
  if not stopped then error(smsg) end
  local s = decode_file(path)
  os.remove(path)
  s.before, s.after = before, after
  H.check_books(s, opt)
  return s
end
off(H.record)

-- The books -------------------------------------------------------------------

-- What an event takes away from, and adds to, the live addresses.
local function book(live, e, complain)
  local was, is = e.oaddr, e.naddr
  if e.sampled then -- Bit 0: the old block was sampled, bit 1: the new one is.
    was, is = e.sampled % 2 == 1 and was, e.sampled >= 2 and is
  end
  if was then
    local l = live[e.oaddr]
    if l == false then
      complain("%s of %s, which was freed before", e.kind, e.oaddr)
    elseif l and l ~= e.osize then
      complain("%s of %s with size %d, allocated with %d", e.kind, e.oaddr, e.osize, l)
    end
    live[e.oaddr] = false
  end
  if is then
    if live[e.naddr] then complain("%s of %s, which is live", e.kind, e.naddr) end
    if e.naddr == 0 or e.nsize == 0 then complain("%s of nothing", e.kind) end
    live[e.naddr] = e.nsize
  end
end

-- Checks all that must hold of any recording.
function H.check_books(s, opt)
  opt = opt or {}
  H.ok(s.whole, "the stream is not whole: %s at %s", s.error, s.offset)
  H.eq(s.format, opt.format or H.format, "format")
  local live, nunknown = {}, 0
  for i, e in ipairs(s.events) do
    book(live, e, function(what, ...)
      report_failure("event %d: " .. what, i, ...)
    end)
    if e.site.source == "unknown" then nunknown = nunknown + 1 end
  end
  H.eq(nunknown, opt.unknown or 0, "number of events of unknown origin")
  s.live = live
  if s.sample and s.sample ~= 0 then
    if s.before and s.whole then
      H.eq(s.meta.live, s.before, "META live")
      H.eq(s.totals.live, s.after, "TOTALS live")
      H.eq(s.totals.flags, 4 + (opt.flags or 0), "TOTALS flags")
    end
    return s
  end
  -- What is outside of the VM's count; the other formats do not know.
  local f = s.foreign
  local foreign = f and f.bytes_in - f.bytes_out or opt.foreign or 0
  if s.before then
    H.eq(s.bytes_in - s.bytes_out - foreign, s.after - s.before, "sum of all events")
  end
  if f and not opt.foreign then
    H.eq(f.alloc + f.realloc + f.free, 0, "number of foreign events")
  end
  if s.format == "compact" and s.whole then
    H.eq(s.meta.live + s.bytes_in - s.bytes_out - foreign, s.totals.live, "TOTALS live")
    H.eq(s.totals.flags, opt.flags or 0, "TOTALS flags")
    if s.before then
      H.eq(s.meta.live, s.before, "META live")
      H.eq(s.totals.live, s.after, "TOTALS live")
    end
  end
  return s
end

-- Tags ------------------------------------------------------------------------

-- Sizes of tagged allocations: base + step * line, plus what the VM adds,
-- which is measured by the VM's own count. Steps and bases are chosen so that
-- no two kinds, and nothing else in a test, have the same size. One string may
-- be what lets the VM's table of strings grow, but not the next.
local function overhead(make, n)
  local least = math.huge
  collectgarbage("stop")
  make(n, "a") -- Grows the string buffer.
  for s in ("bcd"):gmatch(".") do
    local before = count()
    make(n, s)
    least = math.min(least, count() - before)
  end
  collectgarbage("restart")
  return least
end

local u8v = has_ffi and ffi.typeof("uint8_t[?]")
local rep = string.rep
local new = has_ffi and ffi.new or rep

local base = { cdata = 20003, string = 50003, concat = 30003, array = 2100, table = 400 }
local step = { cdata = 16, string = 16, concat = 16, array = 1, table = 1 }
local extra = {
  cdata = has_ffi and overhead(off(function(n) return new(u8v, n) end), 20003) - 20003 or 0,
  string = overhead(off(function(n, s) return rep(s, n) end), 50003) - 50003,
}

if not has_ffi then extra.cdata = extra.string end
extra.concat = extra.string

-- The size of the allocation that kind makes on a line.
local function tag_size(kind, line)
  local n = base[kind] + step[kind] * line
  if kind == "array" or kind == "table" then return (n + 1) * 8 end
  return n + extra[kind]
end

local u8new = has_ffi and "new(u8v, %d)" or "rep(fresh(), %d)"

-- Strings of a line differ, or they would be interned.
local exprs = {
  cdata = function(n) return u8new:format(n) end,
  string = function(n) return ("rep(fresh(), %d)"):format(n) end,
  concat = function(n) return ("(fresh() .. literal[%d])"):format(n - 1) end,
  array = function(n) return ("tabnew(%d, 0)"):format(n) end,
  table = function(n) return "{" .. ("nul,"):rep(n) .. "}" end,
}

local literal = setmetatable({}, { __index = function(t, n)
  t[n] = ("l"):rep(n)
  return t[n]
end })

local chars = {}
for i = 0, 255 do chars[i] = string.char(i) end

-- The code of an allocation, or only its arguments.
local function tag_expr(kind, line, args)
  local n = base[kind] + step[kind] * line
  local _ = literal[n - 1]
  local expr = exprs[kind](n)
  return args and expr:match("%((.*)%)") or expr
end

-- All functions of a function: { first, last, depth }.
local function functions_of(fn, list, depth)
  local info = jutil.funcinfo(fn)
  list[#list + 1] = { first = info.linedefined, last = info.lastlinedefined, depth = depth }
  for i = -1, -1e6, -1 do
    local k = jutil.funck(fn, i)
    if k == nil then break end
    if type(k) == "proto" then functions_of(k, list, depth + 1) end
  end
  return list
end

-- The first line of the innermost function that holds a line.
local function first_line(functions, line)
  local best
  for _, f in ipairs(functions) do
    if line >= f.first and line <= f.last and (not best or f.depth > best.depth) then
      best = f
    end
  end
  return best.first, best.last
end

-- The line before a template's first. fresh() is another string at each call,
-- one that the VM need not make; keep[1] is a place that traces cannot remove.
local tag_head =
  "local new, u8v, rep, tabnew, literal, chars, nul = " ..
  "new, u8v, rep, tabnew, literal, chars " ..
  "local keep, nth = {}, 0 " ..
  "local function fresh() nth = (nth + 1) % 256 return chars[nth] end "

-- Compiles a template. On each line:
--   $cdata $string $concat $array $table  allocates, tagged with the line
--   $stringargs and so on  the arguments for a call of new, rep, tabnew
--   --x5       does so 5 times (each of the line's tags; else once), --x* some
--   --:name    gives the line a name
--   --@name    what it allocates is expected at that line
--   --@[C]     or in a C function, or builtin
-- The template's first line is line 2. The code gets its argument by "...",
-- and env as globals.
function H.code(template, chunk, env)
  local code = { chunk = chunk or "@code.lua", tags = {}, labels = {}, expected = {} }
  local lines, n = { tag_head }, 1
  for text in (template .. "\n"):gmatch("(.-)\n") do
    n = n + 1
    local label = text:match("%-%-.*:(%w+)")
    if label then code.labels[label] = n end
    local times = text:match("%-%-.*x([%d*]+)")
    times = tonumber(times) or times or 1
    local at = text:match("%-%-.*@(%S+)")
    text = text:gsub("%$(%l+)", function(kind)
      local args = kind:match("^(%l+)args$")
      kind = args or kind
      if not base[kind] then error("no such tag: " .. kind) end
      local tag = { kind = kind, line = n, times = times, at = at }
      local size = tag_size(kind, n)
      local old = code.tags[size]
      if old then -- Twice on one line.
        assert(old.line == n)
        old.times = old.times + times
      else
        code.tags[size] = tag
      end
      return tag_expr(kind, n, args)
    end)
    lines[n] = text
  end
  local source = table.concat(lines, "\n")
  code.source = source
  local fn, err = loadstring(source, code.chunk)
  if not fn then error(err) end
  code.functions = functions_of(fn, {}, 0)
  local globals = { new = new, u8v = u8v, rep = rep, tabnew = tabnew,
                    literal = literal, chars = chars }
  for k, v in pairs(env or {}) do globals[k] = v end
  setfenv(fn, setmetatable(globals, { __index = _G }))
  for _, tag in pairs(code.tags) do
    if tag.at and tag.at ~= "[C]" then
      tag.line = assert(code.labels[tag.at], "no such label")
    end
    tag.first, tag.last = first_line(code.functions, tag.line)
  end
  code.fn = fn
  return code
end

local function describe(site)
  return string.format("%s %s:%s line %s%s%s %s", site.source, tostring(site.chunk),
    tostring(site.first), tostring(site.line), site.traced and " traced" or "",
    site.approx and " approx" or "", tostring(site.name or site.symbol or ""))
end
H.describe = describe

-- Is an interpreted site the tag's?
local function is_exact(code, tag, site)
  if tag.at == "[C]" then return site.source == "c" end
  return site.source == "lua" and site.chunk == code.chunk and
         site.line == tag.line and site.first == tag.first and not site.approx
end

-- Is a site on a trace as good as natural snapshots can tell? It may be another
-- line of code that was compiled with it, or a builtin that is written in Lua,
-- which has no lines.
local function is_near(code, site)
  return site.chunk == code.chunk or site.line == 0
end

-- Checks that each tagged allocation is where it should be, and as often.
-- Returns how many were seen, and how many of them on traces.
function H.check_tags(s, code, opt)
  local natural = opt and opt.lines == "natural"
  local seen, total, traced = {}, 0, 0
  for i, e in ipairs(s.events) do
    local tag = e.kind == "alloc" and code.tags[e.nsize]
    if tag then
      seen[tag] = (seen[tag] or 0) + 1
      total = total + 1
      if e.site.traced then traced = traced + 1 end
      local good
      if not H.jit then
        good = is_exact(code, tag, e.site)
      elseif tag.kind == "table" and e.site.source == "internal" then
        good = true -- A trace's exit made up for what the trace had put off.
      elseif H.format == "tarantool" and e.site.traced then
        good = is_near(code, e.site) -- It tells where the trace begins.
      elseif natural and (e.site.approx or H.format == "rfc") then
        good = is_near(code, e.site)
      else
        good = is_exact(code, tag, e.site) and not (natural and e.site.traced)
      end
      H.ok(good, "event %d: %s of line %d (%s:%d) at %s", i, tag.kind, tag.line,
           code.chunk:sub(1, 40), tag.first, describe(e.site))
    end
  end
  for _, tag in pairs(code.tags) do
    local n, times = seen[tag] or 0, tag.times
    if times == "*" then
      H.ok(n > 0, "no %s of line %d", tag.kind, tag.line)
    elseif H.jit then -- Traces leave out what has no use, exits repeat it.
      H.ok(n > 0 == (times > 0) and n <= 3 * times, "%d %s of line %d, expected %d", n,
           tag.kind, tag.line, times)
    else
      H.eq(n, times, "number of %s of line %d", tag.kind, tag.line)
    end
  end
  return total, traced
end

-- Compiles, records, checks. Returns the stream and the code.
function H.try(template, opt)
  opt = opt or {}
  local code = H.code(template, opt.chunk, opt.env)
  local s = H.record(function() code.fn(opt.arg) end, opt)
  local total, traced = H.check_tags(s, code, opt)
  H.ok(total > 0, "no tagged allocation was seen")
  return s, code, traced
end

-- Events that fit all given fields; those of sites, too.
function H.find(s, want)
  local found = {}
  for _, e in ipairs(s.events) do
    local fits = true
    for k, v in pairs(want) do
      local got = e[k]
      if got == nil then got = e.site[k] end
      if got ~= v then fits = false; break end
    end
    if fits then found[#found + 1] = e end
  end
  return found
end

-- The bytes that an event's site gained.
function H.sum(list)
  local bytes = 0
  for _, e in ipairs(list) do bytes = bytes + e.nsize - e.osize end
  return bytes
end

-- Other processes -------------------------------------------------------------

local function quote(s)
  return "'" .. s:gsub("'", "'\\''") .. "'"
end
H.quote = quote

-- Shell code that runs a program that was built here, with arguments.
function H.command(...)
  local words = { ... }
  for i, word in ipairs(words) do words[i] = quote(word) end
  return H.emulator .. " " .. table.concat(words, " ")
end

-- Runs a Lua program in a process of its own; before and after are shell code
-- around the command. Returns its output and its exit status.
function H.child(source, before, after)
  local script = H.path(".child.lua")
  local f = assert(io.open(script, "wb"))
  f:write(source)
  f:close()
  local cmd = string.format("{ %s %s %s; } 2>&1; echo \"status $?\"", before or "",
                            H.command(H.luajit, script), after or "")
  local p = assert(io.popen(cmd))
  local out = p:read("*a")
  p:close()
  os.remove(script)
  local status = tonumber(out:match("status (%d+)\n$"))
  return (out:gsub("status %d+\n$", "")), status
end

return H
