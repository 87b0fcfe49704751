-- Closes all that is open but the standard files, and opens a file of its own under every number.
local ffi = require "ffi"
ffi.cdef "int close(int); int open(const char *, int, int);"
for fd = 3, 400 do ffi.C.close(fd) end
for _ = 3, 400 do ffi.C.open("mine", 577, 420) end
local x = 0
for i = 1, 5e7 do x = x + i % 7 end
print(x)
