-- Two loops whose costs are about 3 : 1, run in turns for SECONDS; prints the CPU time that each had.
local seconds = tonumber(arg[1]) or 1
local clock = os.clock

local function dear(n)
  local x = 1
  for i = 1, 3 * n do x = (x * 1.0000001 + i) % 1e6 end
  return x
end

local function cheap(n)
  local x = 1
  for i = 1, n do x = (x * 1.0000001 + i) % 1e6 end
  return x
end

-- Turns of many lengths: none of them keeps step with a clock that ticks.
local times, turn = { 0, 0 }, 0
dear(1000)
cheap(1000)
while times[1] + times[2] < seconds do
  turn = turn + 1
  local n = 10000 + turn * 7919 % 60000
  local a = clock()
  dear(n)
  local b = clock()
  cheap(n)
  local c = clock()
  times[1], times[2] = times[1] + (b - a), times[2] + (c - b)
end
print(times[1], times[2])
