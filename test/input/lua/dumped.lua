-- Functions from source, called "source", and from bytecode, called "bytecode", in turns, while others are collected: they lie where
-- others lay.  Prints the CPU time that each kind took.
local rounds = tonumber(arg[1]) or 600
local text = [[
  local n = ...
  local function part(x) return x * %d %% 1009 end
  local x = 0
  for i = 1, n do x = x + part(i) end
  return x
]]
local times, sum = { 0, 0 }, 0
for round = 1, rounds do
  local source = text:format(round)
  local f = loadstring(source, "=source")
  if round % 2 == 0 then f = loadstring(string.dump(loadstring(source, "=bytecode")), "not this") end
  if round % 5 == 0 then collectgarbage() end
  local kind, before = round % 2 + 1, os.clock()
  for _ = 1, kind == 1 and 3 or 1 do sum = sum + f(100000) end
  times[kind] = times[kind] + os.clock() - before
end
io.stderr:write(times[1], " ", times[2], "\n")
print(sum)
