-- Allocates in the same way each time: work.lua FORMAT FILE [jit]
local format, file, compile = ...
if not compile then jit.off() end
local function make(i) return {i, {i}} end
local function grow(t, n) for i = #t + 1, n do t[i] = i end end
collectgarbage()
collectgarbage("stop")
assert(misc.memprof.start(file, {format = format}))
local keep, list = {}, {}
for i = 1, 40 do keep[i % 8 + 1] = make(i) end
grow(list, 100)
for i = 1, 10 do keep[i] = ("y"):rep(100 + i) end
keep[11] = assert(loadstring("local t = {}\nfor i = 1, 5 do t[i] = {i} end\nreturn t"))()
collectgarbage()
assert(misc.memprof.stop())
