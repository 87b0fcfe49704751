-- For every permutation of 1..N: how many reversals of its first p[1] elements until 1 stands in front; the most of them, and a checksum.
local N = tonumber(arg[1]) or 9

local p, q, count = {}, {}, {}
local most, sum, sign = 0, 0, 1
for i = 1, N do p[i], count[i] = i, i end

local function reversals()
  local n, first = 0, p[1]
  for i = 2, N do q[i] = p[i] end
  while first ~= 1 do
    local low, high, next = 2, first - 1, q[first]
    q[first] = first
    while low < high do
      q[low], q[high] = q[high], q[low]
      low, high = low + 1, high - 1
    end
    first, n = next, n + 1
  end
  return n
end

while true do
  local n = reversals()
  if n > most then most = n end
  sum = sum + sign * n
  if sign == 1 then
    p[1], p[2] = p[2], p[1]
    sign = -1
  else
    p[2], p[3] = p[3], p[2]
    sign = 1
    local i = 3
    while count[i] == 1 do
      if i >= N then
        print(sum, most)
        return
      end
      count[i] = i
      local first = p[1]
      i = i + 1
      for k = 1, i - 1 do p[k] = p[k + 1] end
      p[i] = first
    end
    count[i] = count[i] - 1
    if i > N then
      print(sum, most)
      return
    end
  end
end
