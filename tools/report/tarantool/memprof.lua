-- Stands in for the parser of Tarantool: require("memprof")(arg) prints what
-- that prints, of recordings in any format, by lj-parse-memprof in PATH.
--
-- The recorder for a stock LuaJIT is called memprof, too. This file is in a
-- folder that no LuaJIT searches, and is found where LUA_PATH begins with it.

-- An argument for the shell.
local function quoted(word)
  return "'" .. tostring(word):gsub("'", "'\\''") .. "'"
end

-- As Tarantool's, ends the program: with the status of lj-parse-memprof, or 127
-- if there is none.
return function(args)
  local words = {"exec lj-parse-memprof --format=tarantool"}
  for i = 1, #args do words[i + 1] = quoted(args[i]) end
  io.stdout:flush()
  local status, _, code = os.execute(table.concat(words, " "))
  if type(status) == "number" then -- As in Lua 5.1: what wait() has.
    code = status >= 256 and status / 256 or status
  end
  os.exit(code, true)
end
