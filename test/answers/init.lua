-- The set-up of an editor, Neovim: a plugin that completes words of the help
-- finds all of them whenever the editor starts.
local words = {}

local function index(path)
  local file = assert(io.open(path))
  for word in file:read("*a"):gmatch("%a%a%a+") do
    words[word:lower()] = (words[word:lower()] or 0) + 1 -- GUILTY
  end
  file:close()
end

local function setup(folder)
  for _, path in ipairs(vim.fn.glob(folder .. "/doc/*.txt", false, true)) do
    index(path)
  end
end

vim.o.number = true
vim.keymap.set("n", "<Space>w", ":write<CR>")
setup(vim.env.VIMRUNTIME)
