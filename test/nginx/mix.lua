-- What wrk asks for: each page in turn.
local pages, n = {"/offer", "/list", "/risk", "/visit"}, 0

function request()
  n = n + 1
  return wrk.format("GET", pages[n % #pages + 1])
end
