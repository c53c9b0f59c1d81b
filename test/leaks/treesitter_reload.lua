-- Memory of a buffer stays in use when the buffer is read again or deleted:
-- https://github.com/nvim-treesitter/nvim-treesitter/issues/1029
--
-- Each time callbacks are attached, which have a parser; none are detached.
--
-- SAYS: is kept by _G.editor.callbacks[1]
-- SAYS: 100 x table {on_lines, on_reload}

editor = {callbacks = {}}

function editor.attach(buffer, callbacks)
  editor.callbacks[buffer] = editor.callbacks[buffer] or {}
  table.insert(editor.callbacks[buffer], callbacks)
end

local function highlight(buffer)
  local parser = {lines = {}}
  for i = 1, 100 do
    parser.lines[i] = {row = i} -- GUILTY
  end
  editor.attach(buffer, {
    on_lines = function() return parser end,
    on_reload = function() parser.lines = {} end,
  })
end

for _ = 1, 100 do highlight(1) end
dump()
