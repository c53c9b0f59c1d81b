-- Coroutines: before and after a yield, across pcall, dead ones.

local H = require("harness")

H.case("before and after a yield", function()
  H.try([[
local function body(a)
  keep[1] = $cdata --x20
  local b = coroutine.yield($array) --x20
  keep[1] = $string --x20
  b = coroutine.yield($cdata) --x20
  local function nested(x)
    coroutine.yield($table) --x20
    keep[1] = $concat --x20
    return x
  end
  nested(b)
  keep[1] = $array --x20
end
for i = 1, 20 do
  local co = coroutine.create(body)
  while coroutine.status(co) ~= "dead" do
    coroutine.resume(co, i)
    keep[2] = $cdata --x80
  end
end]])
end)

H.case("wrap, in a for-in loop and nested", function()
  H.try([[
local function range(n)
  return coroutine.wrap(function()
    for i = 1, n do
      keep[1] = $cdata --x20
      coroutine.yield(i)
    end
  end)
end
for i in range(20) do
  keep[2] = $string --x20
end
local function level(n)
  return coroutine.wrap(function()
    keep[1] = $array --x10
    if n > 0 then
      level(n - 1)()
    end
    keep[1] = $concat --x10
  end)
end
level(9)()
keep[1] = $cdata]])
end)

H.case("a yield across pcall", function()
  H.try([[
for i = 1, 20 do
  local co = coroutine.wrap(function()
    local ok, err = pcall(function()
      keep[1] = $cdata --x20
      coroutine.yield(1)
      keep[1] = $string --x20
      error($array) --x20
    end)
    keep[1] = $concat --x20
    xpcall(function()
      coroutine.yield(2)
      keep[1] = $cdata --x20
      error("x", 0)
    end, function(e)
      keep[1] = $array --x20
      return e
    end)
    keep[1] = $table --x20
  end)
  co() co() co()
  keep[2] = $cdata --x20
end]])
end)

H.case("an error ends a coroutine", function()
  H.try([[
for i = 1, 20 do
  local co = coroutine.create(function()
    keep[1] = $cdata --x20
    local x = nil
    return x.field
  end)
  local ok, msg = coroutine.resume(co)
  keep[1] = $array --x20
  local w = coroutine.wrap(function() keep[1] = $cdata error({}) end) --x20
  pcall(w)
  keep[1] = $concat --x20
end]])
end)

H.case("a builtin as a coroutine's body", function()
  H.try([[
for i = 1, 20 do
  local co = coroutine.create(rep)
  local ok, s = coroutine.resume(co, fresh(), 100)
  local w = coroutine.wrap(pcall)
  w(function() keep[1] = $cdata end) --x20
  keep[1] = $cdata --x20
end]])
end)

H.case("a stack that grows in a coroutine, many coroutines", function()
  H.try([[
local function deep(n)
  if n == 0 then
    keep[1] = $cdata --x20
    return 0
  end
  local x = deep(n - 1)
  return x + 1
end
local all = {}
for i = 1, 20 do
  all[i] = coroutine.create(function()
    deep(500)
    coroutine.yield()
    keep[1] = $string --x20
  end)
  coroutine.resume(all[i])
end
collectgarbage()
for i = 20, 1, -1 do
  coroutine.resume(all[i])
  keep[1] = $cdata --x20
end]])
end)

-- Dead resume ------------------------------------------------------------------

-- coroutine.resume() of what cannot be resumed overwrites its own frame before
-- it allocates the message. In a VM that has not had that message before, the
-- line must get exactly one allocation, and nobody else any.
local dead = [[
package.path = %q
local H = require("harness")
local co = coroutine.create(function() end)
coroutine.resume(co)
local wrapped = coroutine.wrap(function() end)
wrapped()
local resume, running = coroutine.resume, coroutine.running
local function program() collectgarbage("stop")
  %s
end
local s = H.record(program)
local here = {}
for _, e in ipairs(H.find(s, { kind = "alloc" })) do
  -- The JIT compiler may begin to record at any time.
  here[not (H.jit and e.site.source == "internal") and #here + 1 or 0] = (e.site.line or "-") .. ":" .. tostring(e.site.first) .. ":" ..
                    tostring(e.site.chunk):match("[^/]*$") .. ":" .. e.site.source
end
print(table.concat(here, ", "))
]]

local programs = {
  ["resume of a dead coroutine"] = "local ok, msg = resume(co)",
  ["resume of a dead coroutine, with arguments"] = "local ok, msg = resume(co, 1, 2, 3)",
  ["resume as the only argument"] = "assert(not select(1, (resume(co))))",
  ["resume by pcall"] = "local ok, msg = pcall(resume, co)",
  ["a dead wrap"] = "local ok, msg = pcall(wrapped)",
  ["a dead wrap, with arguments"] = "local ok, msg = pcall(wrapped, 1, 2, 3)",
  ["a dead wrap, called from Lua"] = "local ok, msg = pcall(function() wrapped() end)",
}

for name, program in pairs(programs) do
  H.case(name .. ", fresh VM", function()
    local source = dead:format(package.path, program)
    local script_args = string.format("%s %s %s", H.format, H.jit and "on" or "off", H.quote(H.dir))
    local out, status = H.child(source, nil, script_args)
    local line = 9
    if program:find("function") then
      H.ok(out:find("9:9:", 1, true) or out:find("9:8:", 1, true), "allocations: %s", out)
    else
      -- Stack growth is a reallocation: the only allocation is the message.
      H.eq(out, ("%d:%d:%s-%s-%s.child.lua:lua\n"):format(line, line - 1, H.name, H.format,
           H.jit and "on" or "off"), "allocations")
    end
    H.eq(status, 0, "exit status")
  end)
end

H.case("dead resumes between tagged lines", function()
  H.try([[
local co = coroutine.create(function() end)
coroutine.resume(co)
for i = 1, 20 do
  collectgarbage()
  keep[1] = $cdata --x20
  local ok, msg = coroutine.resume(co)
  keep[1] = $string --x20
  ok, msg = coroutine.resume(coroutine.running() or co)
  keep[1] = $array --x20
  local w = coroutine.wrap(function() end)
  w()
  ok, msg = pcall(w)
  keep[1] = $concat --x20
  local inner
  inner = coroutine.create(function()
    local a, b = coroutine.resume(inner)
    keep[1] = $cdata --x20
    local x, y = coroutine.resume(coroutine.running())
    keep[1] = $string --x20
  end)
  coroutine.resume(inner)
  keep[1] = $table --x20
end]])
end)

H.done()
