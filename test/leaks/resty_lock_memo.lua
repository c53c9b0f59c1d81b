-- Locks leak if many are made: https://github.com/openresty/lua-resty-lock/issues/31
--
-- References are in a table with a list of its free places. The head of that list
-- gets lost, and then no place is used again.
--
-- SAYS: is kept by main thread<local memo>
-- SAYS: 4500 x table {held, key}

local memo, FREE = {}, 0

local function ref(object)
  local at = memo[FREE]
  if at and at ~= 0 then
    memo[FREE] = memo[at]
  else
    at = #memo + 1
  end
  memo[at] = object
  return at
end

local function unref(at)
  memo[at] = memo[FREE]
  memo[FREE] = 0 -- Instead of AT.
end

local function lock(key)
  local at = ref({key = "lock:" .. key, held = true}) -- GUILTY
  if key % 10 == 0 then unref(at) end
end

for key = 1, 5000 do lock(key) end
dump()
