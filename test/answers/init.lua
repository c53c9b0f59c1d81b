-- The set-up of an editor, Neovim: a plugin that completes tags of the help
-- finds all of them whenever the editor starts.
local tags = {}

local function index(path)
  local file = assert(io.open(path))
  for tag in file:read("*a"):gmatch("%*(%S+)%*%s") do
    tags[#tags + 1] = tag
  end
  file:close()
  table.sort(tags) -- GUILTY
end

local function setup(folder)
  for _, path in ipairs(vim.fn.glob(folder .. "/doc/*.txt", false, true)) do
    index(path)
  end
end

vim.o.number = true
vim.keymap.set("n", "<Space>w", ":write<CR>")
setup(vim.env.VIMRUNTIME)
