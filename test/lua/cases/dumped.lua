-- A heap dump has its place in the recording: a record with the dump's id.

local H = require("harness")
local decode = require("decode")
local memprof = misc.memprof

local heap = H.path(".ljd")

-- META of the dump that was just taken, whose file is removed.
local function taken()
  local meta = decode.dumpmeta(decode.slurp(heap))
  os.remove(heap)
  return meta
end
H.off(taken)

local function dump()
  assert(memprof.dump(heap))
end
H.off(dump)

-- The number of a string's event; its length is that of no other string.
local function event_of(s, length)
  local found
  for i, e in ipairs(s.events) do
    if e.kind == "alloc" and e.type == "string" and e.nsize >= length and e.nsize < length + 40 then
      H.ok(not found, "a second string of %d bytes", length)
      found = i
    end
  end
  H.ok(found, "no string of %d bytes", length)
  return found or 0
end

-- Three strings with two dumps between them. Returns what is known of it all.
local function record(opt)
  local keep = {}
  local s = H.record(function()
    keep[1] = ("a"):rep(70001)
    dump()
    keep.first = taken()
    keep[2] = ("b"):rep(80001)
    dump()
    keep.second = taken()
    keep[3] = ("c"):rep(90001)
  end, opt)
  return s, keep.first, keep.second
end

local function check_places(s, first, second)
  if not H.eq(#s.dumps, 2, "number of DUMP records") then return end
  H.eq(s.dumps[1].id, first.dump, "id of the first dump")
  H.eq(s.dumps[2].id, second.dump, "id of the second dump")
  H.ok(first.dump ~= second.dump, "two dumps have one id")
  H.eq(first.recording, s.meta.monotonic, "the first dump's recording")
  H.eq(second.recording, s.meta.monotonic, "the second dump's recording")
  H.ok(s.dumps[1].ns <= s.dumps[2].ns, "dumps out of order")
  local a, b, c = event_of(s, 70001), event_of(s, 80001), event_of(s, 90001)
  H.ok(a <= s.dumps[1].events and s.dumps[1].events < b, "the first dump is at %d, not in [%d, %d)",
       s.dumps[1].events, a, b)
  H.ok(b <= s.dumps[2].events and s.dumps[2].events < c, "the second dump is at %d, not in [%d, %d)",
       s.dumps[2].events, b, c)
end

H.case("a record between the events before and after", function()
  check_places(record())
end)

H.case("the same with stacks", function()
  check_places(record({ stack = 16 }))
end)

H.case("the same of samples", function()
  check_places(record({ sample = 64, seed = 1 }))
end)

H.case("dumps wherever a block ends", function()
  local ids = {}
  local s = H.record(function()
    for i = 1, 400 do
      dump()
      ids[i] = taken().dump
      for _ = 1, i do ids.last = {} end
    end
  end, { buffer = 16384, stack = 8 })
  H.eq(#s.dumps, 400, "number of DUMP records")
  for i, d in ipairs(s.dumps) do H.eq(d.id, ids[i], "id of dump %d", i) end
end)

H.case("no record in another format", function()
  for _, format in ipairs({ "rfc", "tarantool" }) do
    local meta
    H.record(function()
      dump()
      meta = taken()
    end, { format = format })
    H.eq(meta.recording, nil, "recording of a dump in the format %s", format)
  end
end)

H.case("a dump without a recording", function()
  dump()
  local first = taken()
  dump()
  local second = taken()
  H.eq(first.recording, nil, "recording")
  H.ok(first.dump ~= 0 and first.dump ~= second.dump, "two dumps have one id")
end)

H.done()
