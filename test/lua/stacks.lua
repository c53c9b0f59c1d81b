-- Stacks that are compared, frame by frame, with what the debug library tells.
-- A program runs many times, always the same: first interpreted, while snap()
-- asks the debug library for the stack before each tagged allocation, then as
-- the test is to run, while snap() does nothing.
--
-- A program that is not always the same is interpreted only, with snap(). What
-- is compiled then has to be plausible: each function is called from where it
-- was called before, and the outermost frame is known.

local H = require("harness")

local S = {}

local getinfo, running = debug.getinfo, coroutine.running

-- What the debug library tells -------------------------------------------------

local chain, taken -- Coroutines that resumed others; stacks by tag.

-- A frame as text.
local function frame_text(i)
  if i.what == "C" then return "[C]" end
  return string.format("%s:%d:%d", i.source, i.linedefined, i.currentline)
end

-- Adds a thread's frames, innermost first. level is the first one's.
local function add_frames(list, thread, level)
  while true do
    local i
    if thread then i = getinfo(thread, level, "Sl") else i = getinfo(level, "Sl") end
    if not i then break end
    list[#list + 1] = frame_text(i)
    level = level + 1
  end
end

local function take(size)
  local list = {}
  add_frames(list, nil, 5) -- Above: this, add_frames(), snap() twice.
  for n = #chain, 1, -1 do
    if type(chain[n]) == "thread" then
      add_frames(list, chain[n], 0)
    else -- The main one, when it was about to resume.
      for _, text in ipairs(chain[n]) do list[#list + 1] = text end
    end
  end
  local of_tag = taken[size] or {}
  taken[size] = of_tag
  of_tag[#of_tag + 1] = list
end
H.off(take)

-- What the recording tells -----------------------------------------------------

S.seen_c = {} -- Names of C functions.

local function site_text(s)
  if s.source == "c" then
    S.seen_c[s.symbol or "?"] = true
    return "[C]"
  end
  if s.source ~= "lua" then return s.source end
  return string.format("%s:%d:%d", s.chunk, s.first, s.line)
end

-- The stack of an event, innermost first.
local function event_stack(e)
  local list = { site_text(e.site) }
  for n = #e.callers, 1, -1 do list[#list + 1] = site_text(e.callers[n]) end
  return list
end

-- The same for both -------------------------------------------------------------

local function same(got, want, depth, cut)
  local n = math.min(#want, depth)
  if #got ~= n or cut ~= (#want > depth) then return false end
  for i = 1, n do
    if got[i] ~= want[i] then return false end
  end
  return true
end

-- Events that were compared; that were on traces, and in inlined functions.
S.compared, S.traced, S.inlined = 0, 0, 0

local function check(s, code, depth)
  local nth = {}
  for i, e in ipairs(s.events) do
    local tag = e.kind == "alloc" and code.tags[e.nsize]
    if tag then
      local size = e.nsize
      nth[size] = (nth[size] or 0) + 1
      local want = taken[size] and taken[size][nth[size]]
      local got = e.callers and event_stack(e)
      S.compared = S.compared + 1
      if e.site.traced then S.traced = S.traced + 1 end
      for _, c in ipairs(e.callers or {}) do
        if c.traced then S.inlined = S.inlined + 1 break end
      end
      if not (want and got and same(got, want, depth, e.callers.cut)) then
        H.ok(false, "event %d (%d of line %d), depth %d%s:\n  got  %s\n  want %s", i,
             nth[size], tag.line, depth, e.callers and e.callers.cut and " cut" or "",
             got and table.concat(got, " ") or H.describe(e.site),
             want and table.concat(want, " ") or "nothing")
      else
        H.ok(true, "")
      end
    end
  end
  for size, list in pairs(taken) do
    H.eq(nth[size] or 0, #list, "number of allocations of line %d", code.tags[size].line)
  end
end

-- Each line with a tag gets a call of snap() before it.
local function with_snaps(template)
  local n = 1
  return (template:gsub("([^\n]*)\n?", function(line)
    n = n + 1
    if not line:find("$cdata", 1, true) then return line .. "\n" end
    return "snap(" .. n .. ") " .. line .. "\n"
  end))
end

-- What a function and its caller look like, and an outermost frame.
local function call_text(got, n)
  if n == #got then return "outermost " .. got[n]:gsub(":%d+$", "") end
  return got[n]:gsub(":%d+$", "") .. " from " .. got[n + 1]
end

-- Remembers who calls what in a stack.
local function learn(known, list)
  for n = 1, #list do known[call_text(list, n)] = true end
end

-- Checks that all calls in a recording were seen before. Functions that the VM
-- calls by itself (anywhere: their text) may be called from everywhere.
local function check_plausible(s, code, known, anywhere)
  local n = 0
  for i, e in ipairs(s.events) do
    local tag = e.kind == "alloc" and code.tags[e.nsize]
    if tag then
      n = n + 1
      local got, bad = event_stack(e), nil
      for k = 1, #got - (e.callers.cut and 1 or 0) do
        local call = call_text(got, k)
        if anywhere[call:match("^(.-) from")] then break end
        bad = bad or not known[call] and call
      end
      H.ok(not bad, "event %d of line %d: %s was not seen before: %s", i, tag.line,
           tostring(bad), table.concat(got, " "))
      if e.site.traced then S.traced = S.traced + 1 end
    end
  end
  H.ok(n > 0, "nothing was compared")
end

-- opt: depths; varies: no two runs are alike; anywhere: see check_plausible().
function S.try(template, env, opt)
  local snap, go_push, go_pop, go_enter = nil, nil, nil, nil
  local depths = opt and opt.depths or { 256, 64, 16, 5, 2 }
  local varies = opt and opt.varies
  env = env or {}
  env.snap = function(line) snap(line) end
  env.push = function() go_push() end
  env.pop = function() go_pop() end
  env.enter = function(thread) go_enter(thread) end
  local code = H.code(with_snaps(template), "@stack.lua", env)
  local sizes = {}
  for size, tag in pairs(code.tags) do sizes[tag.line] = size end
  local function nothing() end
  local function run(depth, asks, jit)
    if asks then
      chain, taken = {}, {}
      snap = H.off(function(line) take(sizes[line]) end)
      go_push = function()
        local link = running()
        if not link then
          link = { "[C]" }
          add_frames(link, nil, 4)
        end
        chain[#chain + 1] = link
      end
      go_pop = function() chain[#chain] = nil end
      go_enter = function(thread) chain[#chain + 1] = thread end
    else
      snap, go_push, go_pop, go_enter = nothing, nothing, nothing, nothing
    end
    local jit_was = H.jit
    H.jit = jit
    local s = H.record(code.fn, { stack = depth, unknown = env.unknown })
    H.jit = jit_was
    return s
  end
  -- All runs start at the same line, which their stacks tell.
  local runs, known = {}, {}
  if not varies then runs[1] = { depths[1], true, false } end
  for _, depth in ipairs(depths) do
    runs[#runs + 1] = varies and { depth, true, false } or { depth, false, H.jit }
  end
  for _, depth in ipairs(varies and H.jit and depths or {}) do
    runs[#runs + 1] = { depth, false, true }
  end
  for _, r in ipairs(runs) do
    local s = run(r[1], r[2], r[3])
    if not varies or r[2] then
      check(s, code, r[1])
    else
      check_plausible(s, code, known, opt.anywhere or {})
    end
    for _, lists in pairs(varies and r[2] and taken or {}) do
      for _, list in ipairs(lists) do learn(known, list) end
    end
  end
end

return S
