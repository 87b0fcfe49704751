-- One loop of N iterations, and nothing else that could be hot.
local n = tonumber((...))
local x = 0
for i = 1, n do x = x + i end
print(x)
