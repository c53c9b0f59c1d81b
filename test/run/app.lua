pcall(jit.off) -- Each table is counted where it is made.
local keep = {}
for i = 1, 5000 do
  keep[i] = {}
end
print(#arg, ...)
os.exit(tonumber(os.getenv("STATUS")) or 0, true)
