-- Compiles and flushes, and keeps an account of its own with jit.attach: prints traces, aborts, flushes; then ends as it is told.
local how = arg[1]
local born, given_up, flushes = 0, 0, 0
local function watch(what)
  if what == "stop" then born = born + 1
  elseif what == "abort" then given_up = given_up + 1
  elseif what == "flush" then flushes = flushes + 1 end
end
jit.off(watch)
jit.attach(watch, "trace")
local sum = 0
for round = 1, 30 do
  local f = loadstring("local x = 0 for i = 1, 300 do x = x + i * " .. round .. " end return x")
  sum = sum + f()
  for i = 1, 200 do sum = sum + #string.gsub("abc" .. i, "b", function(c) return c end) end
  if round % 10 == 0 then jit.flush() end
end
local function tell()
  io.write(born, " ", given_up, " ", flushes, "\n")
  io.flush()
end
jit.off(tell)
local ffi = require("ffi")
ffi.cdef("int kill(int, int); int getpid(void);")
tell()
if how == "exit" then os.exit(7) end
if how == "error" then error("an end") end
if how == "close" then os.exit(8, true) end
if how == "kill" then ffi.C.kill(ffi.C.getpid(), 9) end
if how == "term" then ffi.C.kill(ffi.C.getpid(), 15) end
