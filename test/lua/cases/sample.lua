-- Samples. Estimates from samples are compared with a recording of all events
-- of the same program: for many seeds, each site's estimate must lie as near
-- as the theory says, and their mean must not be off to one side.

local H = require("harness")
if not H.compact then H.skip("only the compact format has samples") end

local tabnew = require("table.new")
local exp, sqrt, abs, floor = math.exp, math.sqrt, math.abs, math.floor

-- The chance that an allocation is told.
local function chance(size, sample) return 1 - exp(-size / sample) end

local function key(site)
  return site.source == "lua" and site.chunk .. ":" .. site.line or site.source
end

-- For each site: bytes and number of allocations, live bytes at the end, and
-- the variances of their estimates.
local function truth(s, sample)
  local sites, live = {}, {}
  for _, e in ipairs(s.events) do
    if e.oaddr and live[e.oaddr] then
      local l = live[e.oaddr]
      l.of.live = l.of.live - l.size
      l.of.vlive = l.of.vlive - l.v
      live[e.oaddr] = nil
    end
    if e.naddr then
      local k = key(e.site)
      local of = sites[k]
      if not of then
        of = { bytes = 0, n = 0, live = 0, vbytes = 0, vn = 0, vlive = 0 }
        sites[k] = of
      end
      local p = chance(e.nsize, sample)
      local v = (1 - p) / p
      of.bytes, of.n, of.live = of.bytes + e.nsize, of.n + 1, of.live + e.nsize
      of.vbytes, of.vn = of.vbytes + v * e.nsize ^ 2, of.vn + v
      of.vlive = of.vlive + v * e.nsize ^ 2
      live[e.naddr] = { of = of, size = e.nsize, v = v * e.nsize ^ 2 }
    end
  end
  return sites
end

-- The same, as samples estimate it. Addresses that are freed, and were never
-- told, are a failure: the recorder knows what it has told.
local function estimate(s)
  local sites, live = {}, {}
  for i, e in ipairs(s.events) do
    if e.oaddr and (e.kind == "free" or e.sampled % 2 == 1) then
      local l = live[e.oaddr]
      H.ok(l, "event %d frees %s, which was not sampled", i, e.oaddr)
      if l then
        H.eq(e.osize, l.size, "size of what event %d frees", i)
        l.of.live = l.of.live - l.weight * l.size
        live[e.oaddr] = nil
      end
    elseif e.oaddr then
      H.ok(not live[e.oaddr], "event %d says that %s was not sampled", i, e.oaddr)
    end
    if e.naddr and (e.kind == "alloc" or e.sampled >= 2) then
      local k = key(e.site)
      local of = sites[k]
      if not of then
        of = { bytes = 0, n = 0, live = 0 }
        sites[k] = of
      end
      local w = 1 / chance(e.nsize, s.sample)
      of.bytes, of.n, of.live = of.bytes + w * e.nsize, of.n + w, of.live + w * e.nsize
      H.ok(not live[e.naddr], "event %d allocates %s twice", i, e.naddr)
      live[e.naddr] = { of = of, size = e.nsize, weight = w }
    end
  end
  return sites
end

-- Small and large objects, of each kind that the VM has, some kept.
local function program(rounds)
  local kept = {}
  local function make(i)
    local t = { i, i + 1 }
    local s = "name" .. i -- Short: the VM's buffers do not grow.
    local big = tabnew(i % 7 * 1500 + 2, 0)
    local vec = tabnew(i % 5 * 90 + 20, 0)
    local f = function() return i end
    t.x = i
    if i % 3 == 0 then kept[#kept + 1] = t end
    if i % 50 == 0 then kept[#kept + 1] = big end
    if i % 5 == 0 then kept[#kept + 1] = vec end
    if i % 11 == 0 then kept[#kept + 1] = f end
    return #s
  end
  for i = 1, rounds do make(i) end
  return kept
end
H.off(program)
local call_line = debug.getinfo(program, "S").lastlinedefined - 2

-- What was kept must be gone before a run: its strings need not be made again.
local kept
local function run()
  kept = program(5000)
  collectgarbage()
end
local function record(fn, opt)
  kept = nil
  return H.record(fn, opt)
end
run()

-- Estimates of a quantity, for many seeds: how often it is far off, and how
-- far off the mean is.
local function compare(exact, all, what, v, least)
  local pairs_, near = 0, 0
  for k, want in pairs(exact) do
    -- The VM's own buffers follow the garbage collector: no two runs are alike.
    if k ~= "internal" and want[what] > least and want[v] > 0 then
      local se, sum = sqrt(want[v]), 0
      for _, got in ipairs(all) do
        local x = got[k] and got[k][what] or 0
        pairs_ = pairs_ + 1
        if abs(x - want[what]) <= 3 * se then near = near + 1 end
        sum = sum + (x - want[what]) / se
      end
      local bias = sum / sqrt(#all) -- Normal, with variance 1.
      H.ok(abs(bias) < 4, "%s of %s is biased by %.2f standard errors", what, k, bias)
    end
  end
  H.ok(pairs_ > 0, "nothing to compare")
  H.ok(near >= 0.99 * pairs_, "%s: only %d of %d within 3 standard errors", what, near, pairs_)
  print(string.format("  %s: %d of %d within 3 standard errors", what, near, pairs_))
end

H.case("estimates from samples", function()
  local SAMPLE, SEEDS = 65536, 50
  local exact = truth(record(run), SAMPLE)
  local total = 0
  for _, of in pairs(exact) do total = total + of.bytes end
  local all = {}
  for seed = 1, SEEDS do
    local s = record(run, { sample = SAMPLE, seed = seed })
    H.eq(s.meta.sample, SAMPLE, "META sample")
    H.eq(s.meta.seed, seed, "META seed")
    all[seed] = estimate(s)
  end
  compare(exact, all, "bytes", "vbytes", total / 100)
  compare(exact, all, "n", "vn", 500)
  compare(exact, all, "live", "vlive", 50000)
end)

H.case("everything is sampled", function()
  -- With a byte between two samples an object of 40 bytes is missed once in
  -- 10^17 times.
  local function some() program(2000) end
  record(some) -- Now all that is made once has been made.
  local s = record(some, { sample = 1, seed = 7 })
  local e = record(some)
  local function births(of)
    local n = 0
    for _, ev in ipairs(of.events) do
      -- Of the VM's own buffers there may be more in one run than in another.
      if ev.naddr and ev.site.chunk == "@" .. arg[0] and ev.type ~= "other" then
        n = n + 1
      end
    end
    return n
  end
  H.ok(births(e) > 8000, "only %d events", births(e))
  H.eq(births(s), births(e), "events told")
  estimate(s)
end)

H.case("samples with stacks", function()
  local s = record(function() program(30000) end, { sample = 1000, stack = 16, seed = 3 })
  local with = 0
  for _, e in ipairs(s.events) do
    local c = e.callers
    if e.kind == "alloc" and e.site.source == "lua" and e.site.chunk:find("cases/sample") and c then
      with = with + 1
      local below = c[#c]
      H.ok(below and below.source == "lua" and below.line == call_line, "caller is %s",
           below and H.describe(below) or "nothing")
    end
  end
  H.ok(with > 1000, "only %d events with a caller", with)
end)

H.case("seeds", function()
  local a = record(run, { sample = 65536, seed = 11 })
  local b = record(run, { sample = 65536, seed = 12 })
  local c = record(run, { sample = 65536 })
  H.ok(c.meta.seed > 0 and c.meta.seed <= 2 ^ 53, "seed %s", tostring(c.meta.seed))
  local function sizes(s)
    local t = {}
    for _, e in ipairs(s.events) do
      if e.naddr and e.site.source == "lua" then t[#t + 1] = e.nsize end
    end
    return table.concat(t, " ", 1, math.min(#t, 50))
  end
  H.ok(sizes(a) ~= sizes(b), "two seeds, the same samples")
end)

H.done()
