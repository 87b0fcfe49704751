-- Sleeps and polls 300 times with work in between; prints how often a call was interrupted.
local ffi = require("ffi")
ffi.cdef([[
  struct pollfd; int poll(struct pollfd *, unsigned long, int);
  struct timespec { long s, ns; }; int nanosleep(const struct timespec *, struct timespec *);
]])
local t = ffi.new("struct timespec", 0, 500000)
local interrupted, x = 0, 0
for i = 1, 300 do
  for k = 1, 50000 do x = (x + k * i) % 1000003 end
  local r = i % 2 == 0 and ffi.C.poll(nil, 0, 1) or ffi.C.nanosleep(t, nil)
  if r < 0 then interrupted = interrupted + 1 end
end
print(interrupted)
