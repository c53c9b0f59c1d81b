-- A server whose sessions are looked up, renewed and never ended. What it
-- renders is far more than what it keeps.

local sessions = {}

local function open_session(user)
  local session = {user = user, seen = 1, cart = {}}
  sessions[#sessions + 1] = {
    session = session,
    token = ("%s-%d"):format(user, #sessions)
      .. ("."):rep(200), -- GUILTY
  }
  return session
end

local function render(session, n)
  local rows = {}
  for i = 1, 40 do
    rows[i] = "<tr><td>" .. session.user .. "</td><td>" .. i * n .. "</td></tr>"
  end
  return table.concat(rows, "\n")
end

local templates = {}
for i = 1, 500 do templates[i] = ("template %d "):format(i):rep(20) end

local bytes = 0
for request = 1, 6000 do
  local session = open_session("user" .. request % 100)
  bytes = bytes + #render(session, request) + #templates[request % 500 + 1]
end
assert(bytes > 0)
