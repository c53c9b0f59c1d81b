-- Compiles 20,000 traces. Prints how many there were.
local text, traces = "local n = 0 for i = 1, 60 do n = n + i * %d end return n", 0
jit.attach(function(what) if what == "stop" then traces = traces + 1 end end, "trace")
for i = 1, 1e6 do
  loadstring(text:format(i))()
  if i % 400 == 0 then jit.flush() end
  if traces >= 20000 then break end
end
print(traces)
