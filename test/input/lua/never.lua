-- Line 12 is never executed, nor 15, nor 18 before the end.
local t = {}
for i = 1, 1024 do t[i] = i % 7 + 1 end
local x = 0
local function never()
  return 5
end
for i = 1, 2e8 do
  if t[i % 1024 + 1] > 0.5 then
    x = x + 1
  else
    x = x + never()
  end
  if x > 1e13 then
    x = 3
  end
end
print(x)
