-- app.lua: a service that lends money, with what real ones have: it makes JSON,
-- it computes, and it forgets nobody.
local app, format = {}, string.format
local served = {offer = 0, list = 0, risk = 0, visit = 0}
local banks = {}
for i = 1, 50 do
  banks[i] = {name = "bank" .. i, rate = 0.02 + i / 1000}
end

-- What is to be paid each month.
local function monthly(sum, rate, months)
  local q = (1 + rate / 12) ^ months
  return sum * rate / 12 * q / (q - 1)
end

-- An offer as JSON.
local function encode(offer)
  local json = format('{"bank":"%s","month":%.2f}', offer.bank, offer.month)
  return json
end

-- /offer: one offer, a small answer.
function app.offer()
  served.offer = served.offer + 1
  local bank = banks[served.offer % #banks + 1]
  local month = monthly(10000 + served.offer, bank.rate, 60)
  ngx.print(encode {bank = bank.name, month = month})
end

-- /list: those of all banks.
function app.list()
  served.list = served.list + 1
  local offers, out = {}, {}
  for i, bank in ipairs(banks) do
    local month = monthly(10000 + served.list, bank.rate, 60)
    offers[i] = {bank = bank.name, month = month}
  end
  for i, offer in ipairs(offers) do
    out[i] = encode(offer)
  end
  ngx.print("[", table.concat(out, ","), "]")
end

-- /risk: how a debt may grow.
function app.risk()
  served.risk = served.risk + 1
  local debt, seed = 10000, served.risk
  for _ = 1, 20000 do
    seed = (seed * 16807) % 2147483647
    debt = debt * (0.9995 + seed / 2147483647 / 1000)
  end
  ngx.print(format('{"debt":%.2f}', debt))
end

local visits = {}

-- /visit: counts what visitors look at.
function app.visit()
  served.visit = served.visit + 1
  local visitor = "visitor " .. served.visit
  visits[visitor] = {first = ngx.now(), pages = {"/"}, agent = ngx.var.http_user_agent}
  ngx.print(format('{"pages":%d}', #visits[visitor].pages))
end

-- How many requests this worker has served.
function app.served()
  return format("%d offer, %d list, %d risk, %d visit", served.offer,
                served.list, served.risk, served.visit)
end

return app
