-- Compiles functions made from text, runs each a while, throws all code away: addresses and trace numbers are used again and again.
local rounds = tonumber(arg[1]) or 1500
local sum = 0
for round = 1, rounds do
  local name = "part" .. round % 7
  local f = loadstring(([[
    local n = ...
    local x = 0
    for i = 1, n do x = (x + i * %d) %% 1000003 end
    for i = 1, n do x = x + i %% %d end
    return x
  ]]):format(round, round % 5 + 2), "=" .. name)
  for _ = 1, 3 do sum = sum + f(10000 + round % 3 * 10000) end
  jit.flush()
end
print(sum)
