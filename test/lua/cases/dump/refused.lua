-- Heap dumps: options, refusals, files.

local H = require("harness")
local dumping = require("dumping")
local dump = require("dump")
local memprof = misc.memprof
local path = dumping.path

H.case("bad arguments", function()
  local f = {}
  local bad = {
    { "#1", nil }, { "#1", {} }, { "#2", path, 5 }, { "#2", path, "x" },
    { "options", path, { format = "compact" } }, { "options", path, { "x" } },
    { "strings", path, { strings = -1 } }, { "strings", path, { strings = 4097 } },
    { "strings", path, { strings = 1.5 } }, { "strings", path, { strings = "1" } },
    { "fd", nil, { fd = -1 } }, { "fd", nil, { fd = f } }, { "nil expected", path, { fd = 1 } },
    { "zero", "a\0b" },
  }
  for i, b in ipairs(bad) do
    local ok, message = pcall(memprof.dump, b[2], b[3])
    H.eq(ok, false, "arguments %d", i)
    H.ok(tostring(message):find(b[1], 1, true), "message %d is %s", i, tostring(message))
  end
end)

local function sh(command)
  local p = assert(io.popen(command .. " 2>&1"))
  local out = p:read("*a")
  p:close()
  return (out:gsub("\n$", ""))
end

local dir = H.path(".dumps")

local function fresh()
  os.execute(("rm -rf %s && mkdir -p %s"):format(H.quote(dir), H.quote(dir)))
end

local function refused(errno, pattern, ...)
  local ok, message, en = memprof.dump(...)
  H.eq(ok, false, "result")
  H.ok(tostring(message):find(pattern, 1, true), "message is %s", tostring(message))
  H.eq(en, errno, "errno")
end

H.case("files", function()
  fresh()
  local name = dir .. "/app.ljd"
  H.eq(memprof.dump(name), true, "dump")
  H.eq(sh("stat -c %a " .. H.quote(name)), "600", "mode")
  H.eq(sh("ls -A " .. H.quote(dir)), "app.ljd", "files")
  local sum = sh("sha256sum < " .. H.quote(name))
  os.execute(("cd %s && mkfifo fifo && mkdir folder && ln -s app.ljd link"):format(H.quote(dir)))
  local before = sh("ls -A " .. H.quote(dir))
  refused(2, "No such file", dir .. "/nothing/x.ljd")
  refused(20, "Not a directory", name .. "/x")
  refused(21, "Is a directory", dir .. "/folder")
  refused(40, "symbolic link", dir .. "/link")
  refused(6, "FIFO", dir .. "/fifo")
  refused(28, "No space", "/dev/full")
  refused(9, "Bad file descriptor", nil, { fd = 1000 })
  H.eq(sh("ls -A " .. H.quote(dir)), before, "files after refusals")
  H.eq(sh("sha256sum < " .. H.quote(name)), sum, "the file before")
  H.eq(memprof.dump(name), true, "the second dump")
  H.eq(sh("sha256sum < " .. H.quote(name .. ".old")), sum, "the file before has another name")
  H.eq(#dump.faults(dump.read(name)), 0, "faults of the second one")
  H.eq(memprof.dump("/dev/null"), true, "a dump to nowhere")
end)

H.case("a limit on the file's size", function()
  fresh()
  local name = dir .. "/app.ljd"
  local out, status = H.child(([[
local keep = {}
for i = 1, 20000 do keep[i] = { tostring(i) } end
print(misc.memprof.dump(%q))
collectgarbage()
print(misc.memprof.dump("/dev/full"))
print(misc.memprof.dump("/dev/null"))]]):format(name), "trap '' XFSZ; ulimit -f 64;")
  H.eq(status, 0, "exit status")
  H.ok(out:find("^false\t[^\n]*File too large\t27\nfalse\t[^\n]*No space[^\n]*\t28\ntrue\n$"), "output is %s", out)
  H.eq(sh("ls -A " .. H.quote(dir)), "", "files")
end)

H.case("a pipe that is closed, one that is slow", function()
  local out, status = H.child([[
for i = 1, 20 do
  local ok, message, errno = misc.memprof.dump(nil, { fd = 1 })
  if not ok then io.stderr:write(message, " ", errno, "\n") break end
end]], nil, "| sleep 0.1")
  H.eq(status, 0, "exit status")
  H.ok(out:find("Broken pipe 32", 1, true), "output is %s", out)
  fresh()
  local name = dir .. "/slow.ljd"
  out = H.child([[
local keep = {}
for i = 1, 20000 do keep[i] = { tostring(i) } end
io.stderr:write(tostring(misc.memprof.dump(nil, { fd = 1 })), "\n")]], nil,
    "| { sleep 0.1; cat > " .. H.quote(name) .. "; }")
  H.ok(out:find("true", 1, true), "output is %s", out)
  H.eq(#dump.faults(dump.read(name, true)), 0, "faults")
end)

H.case("100 refusals and dumps leave nothing behind", function()
  fresh()
  local name = dir .. "/x.ljd"
  collectgarbage()
  for _ = 1, 100 do
    memprof.dump(name)
    memprof.dump("/dev/full")
    pcall(memprof.dump, name, { strings = {} })
  end
  H.ok(tonumber(sh("ls /proc/$PPID/fd | wc -l")) < 20, "descriptors")
  H.eq(sh("ls -A " .. H.quote(dir)), "x.ljd\nx.ljd.old", "files")
end)

os.remove(path)
os.remove(path .. ".old")
os.execute("rm -rf " .. H.quote(dir))
H.done()
