-- lj-parse-memprof of a heap dump and the recording that it was taken in: who
-- keeps what, and who made it, of a program whose answers are known.
--
--   luajit joined.lua compact JIT DIRECTORY PARSER

local H = require("harness")
local decode = require("decode")
local memprof = misc.memprof

local parser = H.command(arg[4])
local app, heap = H.path(".ljm"), H.path(".ljd")

-- Runs the parser. Returns its output, what it complains of, its status.
local function parse(args)
  local out, err = H.path(".out"), H.path(".err")
  local cmd = ("%s %s >'%s' 2>'%s'; echo $?"):format(parser, args, out, err)
  local p = assert(io.popen(cmd))
  local status = tonumber(p:read("*a"))
  p:close()
  local said, complained = decode.slurp(out), decode.slurp(err)
  os.remove(out)
  os.remove(err)
  return said, complained, status
end

-- A table of the parser: a list of rows by the names of columns.
local function rows_of(view, files)
  local csv, err, status = parse(("--format=csv --view=%s %s"):format(view, files))
  H.eq(status, 0, "status of --view=%s: %s", view, err)
  local keys, rows = nil, {}
  for line in csv:gmatch("[^\n]+") do
    local fields = {}
    for field in (line .. ","):gmatch("([^,]*),") do fields[#fields + 1] = field end
    if keys then
      local row = {}
      for i, key in ipairs(keys) do row[key] = tonumber(fields[i]) or fields[i] end
      rows[#rows + 1] = row
    else
      keys = fields
    end
  end
  return rows
end

-- The row with these values.
local function find(rows, with)
  for _, row in ipairs(rows) do
    local is = true
    for k, v in pairs(with) do is = is and row[k] == v end
    if is then return row end
  end
end

-- The program: `_G.cache` is filled at line 3 by a function of line 2, called
-- at line 6. What comes behind the dump must not count.
local program = [[
cache, sessions = {}, {}
local function search(i)
  return { id = i, name = "entry number " .. i, list = { i, i, i } }
end
local function fill(n)
  for i = 1, n do cache[i] = search(i) end
end
fill(2000)
for i = 1, 300 do
  sessions["s" .. i] = coroutine.wrap(function() coroutine.yield() end)
  sessions["s" .. i]()
end
do local garbage = { ("g"):rep(20000) } end
dump()
late = {}
for i = 1, 3000 do late[i] = { i } end
for i = 1, 2000 do cache[i] = nil end
collectgarbage()
]]

local function forget()
  for name in ("app cache sessions late queue leak old other push keep dump start"):gmatch("%a+") do _G[name] = nil end
  collectgarbage()
end

-- Records a program, the one above if no other is given, and dumps its heap. The
-- program is not on the stack there: it is what is before and what is behind the
-- dump.
local function record(opt, other)
  local before, behind = (other or program):match("^(.-)dump%(%)\n(.*)$")
  forget()
  assert(memprof.start(app, opt))
  assert(loadstring(before, "@known.lua"))()
  assert(memprof.dump(heap))
  assert(loadstring(behind, "@behind.lua"))()
  assert(memprof.stop())
  forget()
end

local both = ("'%s' '%s'"):format(app, heap)

H.case("who made what is kept", function()
  _G.before = {}
  for i = 1, 500 do _G.before[i] = { i } end
  record({ stack = 8 })
  local rows = rows_of("keepers", both)
  local made = find(rows, { name = "_G.cache", site = "search (known.lua:3)" })
  H.ok(made, "search made nothing of the cache")
  -- A table, its list and its string: three objects each.
  H.eq(made and made.objects, 6000, "objects of the cache that search made")
  local filled = find(rows, { name = "_G.cache", site = "fill (known.lua:6)" })
  H.ok(filled and filled.bytes >= 2000 * 8, "fill did not let the cache grow")
  local old = find(rows, { site = "(before start)", name = "_G.before" })
  H.eq(old and old.objects, 501, "objects before the start")
  H.ok(not find(rows, { name = "_G.late" }), "what came behind the dump counts")
  H.ok(find(rows, { name = "(garbage)", site = "known.lua:13" }), "garbage has no site")
  local stacks = rows_of("stacks", both)
  local found
  for _, row in ipairs(stacks) do
    found = found or row.stack:find("search (known.lua:3) < fill (known.lua:6) < known.lua:8", 1, true)
  end
  H.ok(found, "the callers of search are missing")
  _G.before = nil
end)

-- Many entries of a list, each of which keeps much, are one keeper.
H.case("entries of a list", function()
  record({ stack = 8 }, [[
pickers = {}
local function pick(n)
  local entries = {}
  for i = 1, n do entries[i] = { index = i, text = "entry " .. i } end
  return entries
end
for i = 1, 20 do pickers[i] = { entries = pick(200 + i), prompt = "p" .. i } end
dump()
pickers = nil
]])
  local rows = rows_of("keepers", both)
  local made = find(rows, { name = "_G.pickers", site = "pick (known.lua:4)" })
  H.ok(made, "pick made nothing of the pickers")
  for _, row in ipairs(rows) do
    H.ok(not row.name:find("_G.pickers[", 1, true), "a keeper of its own is %s", row.name)
  end
end)

H.case("each byte of the dump has one site and one keeper", function()
  record()
  local total = find(rows_of("types", ("'%s'"):format(heap)), { name = "total" })
  for _, view in ipairs({ "keepers", "makers", "stacks" }) do
    local bytes, objects, lost = 0, 0, 0
    for _, row in ipairs(rows_of(view, both)) do
      bytes, objects = bytes + row.bytes, objects + row.objects
      if row.name == "(lost)" or row.site == "(lost)" then lost = lost + row.bytes end
    end
    H.eq(bytes, total.bytes, "sum of --view=%s", view)
    H.ok(math.abs(objects - total.objects) <= 1, "%d objects of --view=%s, not %d", objects, view,
         total.objects) -- The empty string is a part of the VM's state.
    H.eq(lost, 0, "bytes of lost sites")
  end
  local text, err = parse(both)
  H.eq(err, "", "complaints")
  H.ok(text:find("is kept by _G.cache, [%d.]+%% made at search %(known.lua:3%), oldest %d+ ms"),
       "no sentence about the cache")
  H.ok(not text:find("another size"), "blocks have another size than in the recording")
end)

H.case("files in any order", function()
  record()
  local text = parse(both)
  H.eq(parse(("'%s' '%s'"):format(heap, app)), text, "the report of the other order")
  H.eq(parse(("- '%s' <'%s'"):format(heap, app)), text, "the report of standard input")
end)

H.case("samples are weighted", function()
  record()
  local all = find(rows_of("keepers", both), { name = "_G.cache", site = "search (known.lua:3)" })
  record({ sample = 256, seed = 7 })
  local some = find(rows_of("keepers", both), { name = "_G.cache", site = "search (known.lua:3)" })
  H.ok(some and math.abs(some.bytes - all.bytes) < all.bytes / 10, "%s bytes of samples, %d of all",
       some and some.bytes, all.bytes)
  local text = parse(both)
  H.ok(text:find("one sample in 256 bytes", 1, true), "samples are not mentioned")
end)

-- Two dumps of one recording: what each line made between them, by its keeper.
-- Runs what is there BEFORE, which calls start(), and what comes BEHIND the older
-- dump. Neither is on the stack where a dump is taken: its slots could refer to
-- what no variable has any more. Returns the arguments that compare the dumps.
local older = H.path("-older.ljd")
local function compared(before, behind, options)
  forget()
  function _G.start() assert(memprof.start(app, options)) end
  H.off(_G.start)
  assert(loadstring(before, "@known.lua"))()
  assert(memprof.dump(older))
  assert(loadstring(behind, "@behind.lua"))()
  assert(memprof.dump(heap))
  assert(memprof.stop())
  forget()
  return ("--diff='%s' %s"):format(older, both)
end

H.case("who made what is new", function()
  local diff = compared([[ start()
queue, cache = {}, {}
function push(i) queue[#queue + 1] = { job = i } end
function keep(i) cache[i] = { page = i } end
for i = 1, 1000 do keep(i) end
for i = 1, 200 do push(i) end
]], [[
for i = 1, 3000 do push(i) end
for i = 1, 50 do keep(i) end
]])
  local push = { name = "_G.queue", site = "push (known.lua:3)" }
  local keep = { name = "_G.cache", site = "keep (known.lua:4)" }
  H.eq(find(rows_of("keepers", both), push).objects, 3200, "all objects of the queue")
  for _, view in ipairs({ "keepers", "stacks" }) do
    local rows = rows_of(view, diff)
    if view == "stacks" then push.site, push.stack = nil, "push (known.lua:3)" end
    H.eq((find(rows, push) or {}).objects, 3000, "new objects of the queue, by %s", view)
  end
  H.eq((find(rows_of("keepers", diff), keep) or {}).objects, 50, "new objects of the cache")
  H.ok(not find(rows_of("keepers", diff), { site = "(before start)" }), "what is older is new")
  local text = parse(diff)
  H.ok(text:find("\nWHO MADE WHAT IS NEW\n  9%d%.%d%% %([%d.]+KiB%) of what is new is kept by " ..
                 "_G.queue, 9?[%d.%% ]*made at push %(known.lua:3%)"), "no sentence in\n%s", text)
  local page = parse("--format=html " .. diff)
  H.ok(page:find('"made":["9', 1, true), "no sentence in the page")
  H.ok(page:find('"keepers":{', 1, true), "no table in the page")
  local said, err, status = parse(("--diff='%s' '%s' '%s'"):format(heap, app, older))
  H.eq(status, 1, "status of dumps in the wrong order")
  H.ok(err:find("has no record of the base before that of the heap dump: what is new", 1, true), "%s", err)
  H.ok(said:find("\nWHO KEEPS WHAT WHO MADE\n", 1, true), "no report of\n%s", said)
end)

-- A leak that is little beside the heap: a list of tables, a linked list, and
-- tables by name, of which each has a part only.
for _, leak in ipairs({
  { "for i = 1, 40 do leak[i] = { i, { i } } end", 80 },
  { "for i = 1, 200 do leak = { next = leak, v = i } end", 200 },
  { "for i = 1, 26 do local t = {}; leak['user' .. i] = { items = t }\n" ..
    "for k = 1, 100 do t[k] = { k } end end", 2600, 2 },
}) do
  H.case("who made little that is new: " .. leak[1], function()
    local diff = compared([[ start()
cache, leak = {}, {}
for i = 1, 40000 do cache[i] = { i, i } end
]], leak[1])
    local site = "behind.lua:" .. (leak[3] or 1)
    local rows = rows_of("keepers", diff)
    H.eq((find(rows, { name = "_G.leak", site = site }) or {}).objects, leak[2], "objects of the leak")
    for _, r in ipairs(rows) do H.ok(not r.name:find("^_G.leak."), "a part of it: %s", r.name) end
    local text = parse(diff)
    H.ok(text:find("of what is new is kept by _G.leak, [%d.%% ]*made at " .. site), "%s", text)
    H.ok(parse("--view=keepers " .. diff):find("\n *%d+ .*_G.leak +" .. site), "no row")
  end)
end

-- Tables in a table of tables are not one because they are such tables, too.
H.case("what is new in two parts of an application", function()
  local diff = compared([[ start()
app = {}
for i = 1, 16 do app["part" .. i] = { a = { i }, b = { i } } end
]], [[
for i = 1, 200 do app.part3["user" .. i] = { i } end
for i = 1, 100 do app.part7["order" .. i] = { i } end
]])
  local rows = rows_of("keepers", diff)
  H.eq((find(rows, { name = "_G.app.part3", site = "behind.lua:1" }) or {}).objects, 400, "users")
  H.eq((find(rows, { name = "_G.app.part7", site = "behind.lua:2" }) or {}).objects, 200, "orders")
end)

-- A list that is older than the recording, and grows behind the base: that it
-- moves does not make it new.
H.case("what is reallocated is not new", function()
  local diff = compared([[ leak, old = {}, {}
for i = 1, 60000 do old[i] = i end
start()
]], [[
for i = 60001, 70000 do old[i] = i end
for i = 1, 100 do leak[i] = { i } end
]])
  local rows = rows_of("keepers", diff)
  H.eq((find(rows, { name = "_G.leak", site = "behind.lua:2" }) or {}).objects, 100, "objects of the leak")
  H.ok(not find(rows, { name = "_G.old" }), "what is older is new")
end)

-- Of samples, what they stand for decides what a keeper is: one large string
-- hides no list.
H.case("what is new in samples", function()
  local diff = compared([[ cache, leak, other = {}, {}, {}
for i = 1, 80000 do cache[i] = { i, i } end
start()
]], [[
for i = 1, 600 do leak[i] = { i } end
other.buf = ("x"):rep(200000)
]], { sample = 4096, seed = 7 })
  H.ok(not find(rows_of("keepers", both), { name = "_G.leak" }), "the leak is no little thing")
  local row = find(rows_of("keepers", diff), { name = "_G.leak", site = "behind.lua:1" }) or {}
  H.ok(row.bytes and row.bytes > 20000, "%s bytes of the leak", row.bytes)
end)

-- A recording that began behind the older dump does not know what is new; who
-- made what is kept is told all the same.
H.case("a recording without the older dump", function()
  local diff = compared("queue = {}", [[ start()
for i = 1, 3000 do queue[i] = { i } end
]])
  local said, err, status = parse(diff)
  H.eq(status, 1, "status")
  H.eq(select(2, err:gsub("\n", "\n")), 1, "lines of %s", err)
  H.ok(err:find("has no record of the base, which was taken outside of it", 1, true), "%s", err)
  H.ok(said:find("\nWHO KEEPS WHAT WHO MADE\n  [%d.]+%% %([%d.]+KiB%) is kept by _G.queue, [%d.%% ]*made at behind.lua:2"),
       "%s", said)
  H.ok(parse("--format=html " .. diff):find('"fresh":0', 1, true), "the page says what is new")
end)
os.remove(older)

-- Timers: where each one waits, and the line that made it.
H.case("who made a coroutine", function()
  record(nil, [[
local function tick() coroutine.yield() end
local function every() local co = coroutine.create(tick); return co end
timers = {}
for i = 1, 30 do timers[i] = every() end
for i = 31, 40 do timers[i] = coroutine.wrap(tick) end
for i = 1, 30 do coroutine.resume(timers[i]) end
for i = 31, 40 do timers[i]() end
dump()
]])
  local rows = rows_of("threads", both)
  local n = { ["every (known.lua:2)"] = 0, ["known.lua:5"] = 0 }
  for _, r in ipairs(rows) do n[r.site] = (n[r.site] or 0) + 1 end
  H.eq(n["every (known.lua:2)"], 30, "coroutines of every()")
  H.eq(n["known.lua:5"], 10, "coroutines of line 5")
  local by = rows_of("threads", "--group=stack " .. both)
  H.eq((find(by, { site = "every (known.lua:2)" }) or {}).threads, 30, "those in one row")
  H.eq((find(by, { site = "known.lua:5" }) or {}).threads, 10, "others in another one")
  H.eq((find(by, { site = "(before start)" }) or {}).threads, 1, "the main thread")
  timers = nil
end)

-- A recording that is not the dump's is refused, in one line.
local function refused(files, why)
  local text, err, status = parse(files)
  H.eq(status, 2, "status of %s", files)
  H.eq(text, "", "report of %s", files)
  H.ok(err:find(why, 1, true), "not refused for %q: %s", why, err)
  return err
end

H.case("another recording is refused", function()
  record()
  local other = H.path("-other.ljm")
  assert(os.rename(app, other))
  record()
  local err = refused(("'%s' '%s'"):format(other, heap), "is not the recording")
  H.eq(select(2, err:gsub("\n", "")), 1, "lines")
  os.remove(other)
end)

H.case("a dump without a recording is refused", function()
  record()
  assert(memprof.dump(heap))
  refused(both, "while nothing was recorded")
end)

H.case("a lost record is refused", function()
  record()
  local data = decode.slurp(app)
  local cut = H.path("-cut.ljm")
  local f = assert(io.open(cut, "wb"))
  f:write(data:sub(1, 4000))
  f:close()
  refused(("'%s' '%s'"):format(cut, heap), "has lost the record of the heap dump")
  os.remove(cut)
end)

H.case("dumps that a recording takes by itself", function()
  forget()
  local first, second = H.path(".ljd"), H.path(".2.ljd")
  os.remove(first)
  _G.dump = function() end
  collectgarbage()
  assert(memprof.start(app, { stack = 8, dump_at_limit = math.floor(H.count()) + 200000 }))
  assert(loadstring(program, "@known.lua"))()
  assert(memprof.stop())
  forget()
  local rows = rows_of("keepers", ("'%s' '%s'"):format(app, first))
  H.ok(find(rows, { name = "_G.cache", site = "search (known.lua:3)" }), "search made nothing")
  os.remove(second)
end)

H.case("who made what two tables keep", function()
  record(nil, [[
list, index = {}, {}
local function add(i)
  list[i] = { id = i, tags = { i, i, i } }
  index["item " .. i] = list[i]
end
for i = 1, 3000 do add(i) end
dump()
list, index = nil, nil
]])
  local text = parse(both)
  H.ok(text:find("is kept by _G.index and _G.list together, made at add %(known.lua:3%)"),
       "no sentence about both in\n%s", text)
  local _, err, got = parse("--limit='shared@_G.list<=100K' " .. both)
  H.eq(got, 3, "status of a limit of what is shared")
  H.ok(err:find("_G.index and _G.list together: .*, most of it made at add %(known.lua:3%)"),
       "why: %s", err)
end)

H.case("limits", function()
  record()
  local function status(limit, files)
    local _, err, got = parse(("--limit='%s' %s"):format(limit, files or both))
    return got, err
  end
  H.eq(status("retained@_G.cache<=10MB"), 0, "status of a limit that is kept")
  H.eq(status("retained<1GB"), 0, "status of a limit of all")
  H.eq(status("retained@_G.cache<=10K", ("'%s'"):format(heap)), 3, "status without a recording")
  local got, err = status("retained@_G.cache<=10K")
  H.eq(got, 3, "status of a limit that is exceeded")
  H.ok(err:find("_G.cache keeps %d+, most of it made at search %(known.lua:3%)"), "why: %s", err)
  H.eq(status("retained@_G.c*<=10K"), 3, "status of a pattern")
  H.eq(status("retained@registry._LOADED._G.cache<=10K"), 3, "status of a longer path")
  H.eq(status("retained@_G.nothing<=10K"), 3, "status of what is not there")
  H.eq(status("retained@_G.nothing<=0"), 0, "status of what must not be there")
  H.eq(status("shared@_G.cache<=10MB"), 0, "status of a limit of what is shared")
  H.eq(status("shared@_G.cache<=10K"), 3, "status of what nothing else keeps")
end)

os.remove(app)
os.remove(heap)
os.remove(app .. ".old")
os.remove(heap .. ".old")
H.done()
