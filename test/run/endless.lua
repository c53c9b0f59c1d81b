-- Allocates until a signal ends it; says when some of that is done.
local keep, i = {}, 0
while true do
  i = i + 1
  keep[i % 10000] = {i}
  if i == 20000 then
    print("up")
    io.stdout:flush()
  end
end
