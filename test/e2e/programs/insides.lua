-- Uses all parts of a VM for a second: strings, tables, formatting, collector,
-- allocator, parser, compiler.
local source = "local a = ... " .. ("a = a + 1 if a > 3 then a = {x = a} a = a.x end "):rep(50)
local deadline, n = os.clock() + 1, 0
while os.clock() < deadline do
  n = n + 1
  local names, numbers = {}, {}
  for i = 1, 200 do names[i] = "k" .. n * i .. "," .. i / 7 end
  for i = 1, 200 do numbers[names[i]] = i end
  local all = table.concat(names, ","):gsub("k", "v"):upper()
  if n % 20 == 0 then loadstring(source)(1) end
  table.sort(names)
  assert(#all + #string.format("%d %s %g", n, "x", n / 3) > 0)
end
