-- The decoder of this directory, written from the grammars, and
-- lj-parse-memprof have to come to the same report, byte for byte.
--
--   luajit decode_agrees.lua FORMAT on|off DIRECTORY HERE PARSER

local H = require("harness")
local decode = require("decode")
local report = require("report")

local here, parser = arg[4], arg[5]
local path = H.path()

-- The parser's report, its warnings, its exit status.
local function parse(file)
  local p = assert(io.popen(("%s 2> %s; echo \"status $?\""):format(
    H.command(parser, file), H.quote(path .. ".err"))))
  local out = p:read("*a")
  p:close()
  local err = decode.slurp(path .. ".err")
  os.remove(path .. ".err")
  return (out:gsub("status %d+\n$", "")), err, tonumber(out:match("status (%d+)\n$"))
end

local function report_of(file)
  local r = report.new()
  H.jit_switch(H.decoder_jit)
  local s = decode.stream(decode.slurp(file), r.event)
  local text = r.text(s.meta and s.meta.live)
  H.jit_switch(H.jit)
  return text, s
end

-- The first line where two texts differ.
local function difference(a, b)
  local na, nb, n = a:gmatch("([^\n]*)\n"), b:gmatch("([^\n]*)\n"), 0
  while true do
    local x, y = na(), nb()
    n = n + 1
    if x ~= y then return n, tostring(x), tostring(y) end
    if x == nil then return 0, "", "" end
  end
end

local function compare(what)
  local ours, s = report_of(path)
  local theirs, err, status = parse(path)
  H.ok(s.whole, "%s: the stream is not whole: %s at %s", what, s.error, s.offset)
  H.eq(status, 0, "%s: the parser's exit status", what)
  H.eq(err, "", "%s: the parser's warnings", what)
  H.ok(s.nevents > 100, "%s: %d events", what, s.nevents)
  if ours ~= theirs then
    H.ok(false, "%s: line %d of the report is\n    %s\n  here, and the parser's is\n    %s",
         what, difference(ours, theirs))
  else
    H.ok(true, "the same")
  end
  os.remove(path)
end

local function record(fn)
  H.jit_switch(H.jit)
  assert(misc.memprof.start(path, { format = H.format }))
  fn()
  assert(misc.memprof.stop())
end

for _, program in ipairs({ "trees", "strings", "closures", "json", "coroutines", "build" }) do
  H.case(program, function()
    local cmd = H.command(H.luajit, here .. "/run_prog.lua", here .. "/programs/" .. program .. ".lua",
                          H.format, path, H.jit and "on" or "off")
    H.eq(os.execute(cmd .. " > /dev/null"), 0, "exit status")
    compare(program)
  end)
end

-- Recorded by Tarantool's own recorder, of which this format is.
for _, name in ipairs(H.format == "tarantool" and { "v3-prog", "v3-progjit" } or {}) do
  H.case(name .. ", from the field", function()
    local packed = here .. "/../fixtures/" .. name .. ".bin.gz"
    H.eq(os.execute(("gzip -dc %s > %s"):format(H.quote(packed), H.quote(path))), 0, "exit status")
    compare(name)
  end)
end

H.case("code of all kinds of names", function()
  local names = { "@new\nline.lua", "=" .. ("long"):rep(100), "@" .. ("/path"):rep(100),
                  "return 'source'", "two\nlines", "", "=", "@", "=\27[31m", "=tab\there",
                  ("source "):rep(20), "@" .. ("y"):rep(58), "@" .. ("y"):rep(59),
                  "@" .. ("y"):rep(60), "=" .. ("z"):rep(59), "=" .. ("z"):rep(60),
                  ("q"):rep(47), ("q"):rep(48), ("q"):rep(49), "=\255\128", "=del\127" }
  local text = "local t = {}\nfor i = 1, 20 do\n  t[i] = { i, tostring(i) }\nend\n" ..
               "function made(n)\n  return { n, {} }\nend\n" ..
               "for i = 1, 9 do made(i) end\nreturn t"
  local fns = {}
  for i, name in ipairs(names) do fns[i] = loadstring(text, name) end
  local stripped = loadstring(string.dump(loadstring(text, "@stripped.lua"), true), "=stripped")
  record(function()
    for i = 1, #names do fns[i]() end
    stripped()
    for i, name in ipairs(names) do loadstring(text .. i, name)() end
    local keep = {}
    for i = 1, 2000 do keep[i] = { i } end
    for i = 1, 50 do
      local ok = pcall(error, { i })
      local co = coroutine.wrap(function() coroutine.yield({ i }) end)
      co()
    end
    table.foreach({ 1, 2, 3 }, function(k, v) keep[k] = { v } end)
    keep = nil
    collectgarbage()
  end)
  compare("names")
end)

H.case("addresses of code are used again", function()
  record(function()
    for i = 1, 500 do
      local fn = loadstring(("\n"):rep(i % 5) .. "local t = { 'x" .. i .. "' } return { t }",
                            "=reuse" .. i % 50)
      fn()
      if i % 9 == 0 then fn = nil collectgarbage() end
    end
  end)
  compare("reuse")
end)

H.case("C functions", function()
  record(function()
    for i = 1, 200 do
      coroutine.wrap(string.rep)("x", 100 + i)
      coroutine.wrap(tostring)(i + 0.5)
      coroutine.wrap(newproxy)(true)
      coroutine.wrap(unpack)({ 1, 2, 3 })
    end
  end)
  compare("C functions")
end)

H.done()
