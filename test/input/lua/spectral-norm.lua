-- The largest singular value of the infinite matrix a(i, j) = 1 / ((i + j)(i + j + 1) / 2 + i + 1), cut to N by N.
local N = tonumber(arg[1]) or 400

local function entry(i, j)
  local s = i + j
  return 1 / (s * (s + 1) * 0.5 + i + 1)
end

local function times(x, y)
  for i = 0, N - 1 do
    local sum = 0
    for j = 0, N - 1 do sum = sum + x[j] * entry(i, j) end
    y[i] = sum
  end
end

local function times_transposed(x, y)
  for i = 0, N - 1 do
    local sum = 0
    for j = 0, N - 1 do sum = sum + x[j] * entry(j, i) end
    y[i] = sum
  end
end

local u, v, t = {}, {}, {}
for i = 0, N - 1 do u[i] = 1 end
for _ = 1, 10 do
  times(u, t)
  times_transposed(t, v)
  times(v, t)
  times_transposed(t, u)
end
local uv, vv = 0, 0
for i = 0, N - 1 do
  uv, vv = uv + u[i] * v[i], vv + v[i] * v[i]
end
print(("%.9f"):format(math.sqrt(uv / vv)))
