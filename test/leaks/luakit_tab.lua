-- Views are never collected: https://github.com/aidanholm/luakit/issues/238
--
-- A handler of a view refers to the label of its tab. A table with weak keys has
-- the view by that label.
--
-- SAYS: is kept by registry._LOADED["lousy.widget.tab"].new:data
-- SAYS: 300 of 300 keys of
-- SAYS: are kept only by values of such tables

package.preload["lousy.widget.tab"] = function()
  local data = setmetatable({}, {__mode = "k"})
  return {
    new = function(view)
      local label = {text = view.uri}
      data[label] = view
      view.handler = function() label.text = view.uri end
      return label
    end,
  }
end

local function new_view(uri)
  local view = {uri = uri, history = {}}
  for i = 1, 30 do
    view.history[i] = {at = i} -- GUILTY
  end
  return view
end

for i = 1, 300 do
  require("lousy.widget.tab").new(new_view("http://host" .. i))
end
dump()
