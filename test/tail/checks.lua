-- What a test has found, and the folder in which it works.

local Checks = { made = 0, failed = 0 }

function Checks.ok(cond, what, ...)
  Checks.made = Checks.made + 1
  if not cond then
    Checks.failed = Checks.failed + 1
    print("FAILED: " .. what:format(...))
  end
end

function Checks.eq(got, want, what)
  Checks.ok(got == want, "%s: %s, not %s", what, tostring(got), tostring(want))
end

-- Makes a folder anew.
function Checks.clean(dir)
  os.execute(("rm -rf '%s' && mkdir -p '%s'"):format(dir, dir))
end

-- Removes folders, and ends the test.
function Checks.finish(...)
  os.execute(("rm -rf '%s'"):format(table.concat({ ... }, "' '")))
  print(("%d checks, %d failed"):format(Checks.made, Checks.failed))
  os.exit(Checks.failed == 0 and 0 or 1)
end

return Checks
