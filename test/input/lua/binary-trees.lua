-- Makes and counts many small trees beside one that lives long: the garbage collector's benchmark.
local N = tonumber(arg[1]) or 13

local function tree(depth)
  if depth == 0 then return {} end
  return { tree(depth - 1), tree(depth - 1) }
end

local function nodes(t)
  return t[1] and 1 + nodes(t[1]) + nodes(t[2]) or 1
end

print("deepest", N + 1, nodes(tree(N + 1)))
local long = tree(N)
for depth = 4, N, 4 do
  local rounds, sum = 2 ^ (N - depth + 4), 0
  for _ = 1, rounds do sum = sum + nodes(tree(depth)) end
  print(rounds, depth, sum)
end
print("long-lived", N, nodes(long))
