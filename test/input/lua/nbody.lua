-- The sun and its four big planets, N steps of a symplectic integrator.  Prints the energy before and after.
local N = tonumber(arg[1]) or 200000
local sqrt, pi = math.sqrt, math.pi
local year, solar = 365.24, 4 * pi * pi

local function body(x, y, z, vx, vy, vz, mass)
  return { x = x, y = y, z = z, vx = vx * year, vy = vy * year, vz = vz * year, mass = mass * solar }
end

local bodies = {
  body(0, 0, 0, 0, 0, 0, 1),
  body(4.8414314424647208, -1.1603200440274284, -0.10362204447112311, 0.00166007664274403694, 0.00769901118419740425, -0.0000690460016972063023, 0.000954791938424326609),
  body(8.34336671824457987, 4.12479856412430479, -0.403523417114321381, -0.00276742510726411912, 0.00499852801234917238, 0.0000230417297573763929, 0.000285885980666130812),
  body(12.8943695621391310, -15.1111514016986312, -0.223307578892655734, 0.00296460137564761618, 0.00237847173959480950, -0.0000296589568540237556, 0.0000436624404335156298),
  body(15.3796971148509165, -25.9193146099879641, 0.179258772950371181, 0.00268067772490389322, 0.00162824170038242295, -0.0000951592254519715870, 0.0000515138902046611451),
}

local function advance(dt)
  local n = #bodies
  for i = 1, n do
    local a = bodies[i]
    local ax, ay, az, am = a.x, a.y, a.z, a.mass
    local vx, vy, vz = a.vx, a.vy, a.vz
    for j = i + 1, n do
      local b = bodies[j]
      local dx, dy, dz = ax - b.x, ay - b.y, az - b.z
      local d2 = dx * dx + dy * dy + dz * dz
      local pull = dt / (d2 * sqrt(d2))
      local bm = b.mass * pull
      vx, vy, vz = vx - dx * bm, vy - dy * bm, vz - dz * bm
      local m = am * pull
      b.vx, b.vy, b.vz = b.vx + dx * m, b.vy + dy * m, b.vz + dz * m
    end
    a.vx, a.vy, a.vz = vx, vy, vz
    a.x, a.y, a.z = ax + dt * vx, ay + dt * vy, az + dt * vz
  end
end

local function energy()
  local e = 0
  for i, a in ipairs(bodies) do
    e = e + a.mass * (a.vx * a.vx + a.vy * a.vy + a.vz * a.vz) / 2
    for j = i + 1, #bodies do
      local b = bodies[j]
      local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
      e = e - a.mass * b.mass / sqrt(dx * dx + dy * dy + dz * dz)
    end
  end
  return e
end

local px, py, pz = 0, 0, 0
for _, b in ipairs(bodies) do
  px, py, pz = px + b.vx * b.mass, py + b.vy * b.mass, pz + b.vz * b.mass
end
bodies[1].vx, bodies[1].vy, bodies[1].vz = -px / solar, -py / solar, -pz / solar
print(("%.9f"):format(energy()))
for _ = 1, N do advance(0.01) end
print(("%.9f"):format(energy()))
