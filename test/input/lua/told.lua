-- Prints what LuaJIT's own interface says of each trace when it is compiled: number, kind, parent, exit, address, size, offset of the
-- loop, link, line that it starts at; then line/depth of each instruction that was recorded.
local util = require("jit.util")
local start, recorded
local function on_trace(what, tr, func, pc, parent, exit)
  if what == "start" then
    local kind = parent and (exit < 0 and "stitched" or "side") or "root"
    start = { ("%d %s %d %d"):format(tr, kind, parent or 0, exit or 0), util.funcinfo(func, pc).currentline }
    recorded = {}
  elseif what == "stop" then
    local code, address, loop = util.tracemc(tr)
    local info = util.traceinfo(tr)
    print(start[1], ("%.0f"):format(address % 2 ^ 64), #code, loop, info.link, info.linktype, start[2], table.concat(recorded, " "))
  end
end
local function on_record(tr, func, pc, depth)
  if pc < 0 then return end
  recorded[#recorded + 1] = util.funcinfo(func, pc).currentline .. "/" .. depth
end
jit.off(on_trace)
jit.off(on_record)
jit.attach(on_trace, "trace")
jit.attach(on_record, "record")

local function inner(x)
  if x % 3 == 0 then
    return x * 2
  end
  return x
end
local function outer(x)
  local a = inner(x)
  local b = inner(x + 1)
  return a + b
end
local sum = 0
for i = 1, 3000 do
  sum = sum + outer(i)
  if i % 5 == 0 then
    sum = sum + #tostring(i)
  end
end
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
sum = sum + fib(20)
for i = 1, 300 do
  sum = sum + #("x"):rep(i % 7):gsub("x", "yy")
end
for i = 1, 200 do
  local t = {}
  for k = 1, 30 do t[k] = k * i end
  sum = sum + #t
end
jit.attach(on_trace)
jit.attach(on_record)
print(sum)
