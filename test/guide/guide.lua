-- Runs the commands of a guide and compares what they print with what it says.
--   luajit guide.lua GUIDE [root]
--
-- ```console has commands behind a "$ ", each with what it prints; "..." stands
-- for lines, or the rest of one, that were left out. With the word root behind
-- it, it is left out itself unless root is asked for. ```lua, ```diff and
-- ```nginx are files, whose names are in their first lines. All commands run in
-- one shell, in the folder that this runs in, and each must end with status 0.
--
-- Words must be the same but for addresses, and numbers of lines of code. The first two other
-- numbers of a line, which are what it is about, may differ by a quarter, or
-- shares by 5 points; in ```console about, by a factor of 4. Those behind may be
-- any, as all in ```console any: what is live depends on where the collector is.

local any = {math.huge, math.huge}
local margins = {console = {0.25, 5}, about = {0.75, 20}, any = any}
local files = {lua = true, diff = true, nginx = true}
local guide, as_root = arg[1], arg[2] == "root"
local failed = 0

-- Blocks of the guide: {kind, words, lines, at}, in order.
local function read_blocks()
  local blocks, block, at = {}, nil, 0
  for line in io.lines(guide) do
    at = at + 1
    local fence = line:match "^```(.*)"
    if fence and block then
      block = nil
    elseif fence then
      block = {kind = fence:match "^%a*", words = fence, lines = {}, at = at}
      blocks[#blocks + 1] = block
    elseif block then
      block.lines[#block.lines + 1] = line
    end
  end
  assert(not block, "a block without an end")
  return blocks
end

-- Commands of a block: {text, expected, at, margin}. A command goes on while its
-- lines end in a backslash.
local function read_commands(block)
  local commands, command, goes_on = {}, nil, false
  local margin = margins[block.words:match "%a+$"] or margins.console
  for i, line in ipairs(block.lines) do
    if goes_on then
      command.text = command.text .. "\n" .. line
      goes_on = line:find "\\$"
    elseif line:find "^%$ " then
      command = {text = line:sub(3), expected = {}, at = block.at + i,
                 margin = margin}
      commands[#commands + 1] = command
      goes_on = line:find "\\$"
    else
      assert(command, "output without a command: " .. line)
      table.insert(command.expected, {text = line, at = block.at + i})
    end
  end
  return commands
end

-- Files and commands as one script. What is printed in front of and behind each
-- command tells them apart.
local function write_script(blocks, name)
  local out, commands = assert(io.open(name, "w")), {}
  out:write [[
exec 2>&1 < /dev/null
apt-get() {
  [ "$1" = download ] && shift
  for package; do cp "$GUIDE_DEBS/${package}_"*.deb . || return; done
}
]]
  for _, block in ipairs(blocks) do
    if files[block.kind] then
      local file = block.lines[1]:match "^%p+ ([%w_.-]+)"
      out:write("cat > ", assert(file, "a file without a name"),
                " << 'END OF FILE'\n", table.concat(block.lines, "\n"),
                "\nEND OF FILE\n")
    elseif block.kind == "console" and (as_root or
                                        not block.words:find "root") then
      for _, command in ipairs(read_commands(block)) do
        commands[#commands + 1] = command
        out:write("printf '\\n@@@ begin\\n'\n", command.text,
                  "\nprintf '\\n@@@ end %d\\n' \"$?\"\n")
      end
    end
  end
  out:close()
  return commands
end

-- Runs the script; every command gets what it printed, and its status.
local function run(commands, name)
  local pipe, i, command = io.popen("bash " .. name), 0, nil
  for line in pipe:lines() do
    if line == "@@@ begin" then
      i, command = i + 1, commands[i + 1]
      command.found = {}
    elseif line:find "^@@@ end" then
      command.status = tonumber(line:match "%d+$")
    elseif command and not command.status then
      command.found[#command.found + 1] = line
    end
  end
  pipe:close()
end

local units = {[""] = 1, B = 1, KiB = 2^10, MiB = 2^20, ["%"] = 0}

-- The number that a word is, whether it is a share, and what ends it.
local function number(word)
  local n, unit, rest = word:match "^%(?([-+]?%d[%d.]*)(%%?%a*)(%)?[:,;]?)$"
  if n and tonumber(n) and units[unit] then
    local share = unit == "%"
    return tonumber(n) * (share and 1 or units[unit]), share, rest
  end
end

-- A word without the addresses and the places in arrays that are in it.
local function constant(word)
  return (word:gsub("0x%x+", "0x"):gsub("%[%d+%]", "[]"))
end

-- Are two words the same, or numbers that are near enough?
local function same_word(a, b, exact, margin)
  local x, x_share, x_rest = number(a)
  local y, y_share, y_rest = number(b)
  if constant(a) == constant(b) then return true end
  if exact or not x or not y or x_share ~= y_share or x_rest ~= y_rest then
    return false
  end
  local most = math.max(math.abs(x), math.abs(y))
  return math.abs(x - y) <= math.max(most * margin[1],
                                     x_share and margin[2] or 4)
end

-- The same of two lines.
local function same_line(a, b, margin)
  local next_b, before, numbers = b:gmatch "%S+", nil, 0
  for word in a:gmatch "%S+" do
    if word == "..." then return true end
    local other = next_b()
    local exact = before and before:find "line$"
    if number(word) and not exact then numbers = numbers + 1 end
    if numbers > 2 then margin = any end
    if not other or not same_word(word, other, exact, margin) then
      return false
    end
    before = word
  end
  return next_b() == nil
end

local function fail(command, at, text, ...)
  failed = failed + 1
  print(("FAILED %s:%d: " .. text):format(guide, at, ...))
  for i, line in ipairs(command.found or {}) do
    if i > 40 then
      print "  | ..."
      break
    end
    print("  | " .. line)
  end
end

-- Looks for what a command should have printed in what it has. Empty lines at
-- the end are the script's.
local function compare(command)
  local found, at, anywhere = command.found, 1, false
  while found[#found] == "" do found[#found] = nil end
  if command.status ~= 0 then
    return fail(command, command.at, "status %s", command.status)
  end
  for _, expected in ipairs(command.expected) do
    if expected.text == "..." then
      anywhere = true
    else
      while anywhere and found[at] and
            not same_line(expected.text, found[at], command.margin) do
        at = at + 1
      end
      if not found[at] or
         not same_line(expected.text, found[at], command.margin) then
        return fail(command, expected.at, "expected %s", expected.text)
      end
      at, anywhere = at + 1, false
    end
  end
  if found[at] and not anywhere then
    fail(command, command.at, "more was printed: %s", found[at])
  end
end

local script = "guide.sh"
local commands = write_script(read_blocks(), script)
assert(#commands > 0, "no commands")
run(commands, script)
for _, command in ipairs(commands) do
  if command.status then
    compare(command)
  else
    fail(command, command.at, "this was not reached")
  end
end
print(("%d commands of %s, %d failed"):format(#commands, guide, failed))
os.exit(failed == 0 and 0 or 1)
