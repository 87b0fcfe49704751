-- Points of an N by N grid that have not left a circle of radius 2 after 50 steps of z = z^2 + c.
local N = tonumber(arg[1]) or 500
local inside = 0

for y = 0, N - 1 do
  local ci = 2 * y / N - 1
  for x = 0, N - 1 do
    local cr, zr, zi, left = 2 * x / N - 1.5, 0, 0, false
    for _ = 1, 50 do
      local r2, i2 = zr * zr, zi * zi
      if r2 + i2 > 4 then
        left = true
        break
      end
      zr, zi = r2 - i2 + cr, 2 * zr * zi + ci
    end
    if not left then inside = inside + 1 end
  end
end
print(inside)
