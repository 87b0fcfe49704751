-- Odd things a script may do, chosen by name; each prints a value that does not depend on being sampled.
local ffi = require("ffi")
local cases = {}

function cases.recursion()
  local function down(n) if n == 0 then return 0 end return 1 + down(n - 1) end
  local sum = 0
  for _ = 1, 60 do sum = sum + down(15000) end
  print(sum, pcall(function() local function f() return 1 + f() end return f() end))
end

function cases.memory()
  print(pcall(function() local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(1e6) .. i end end))
end

function cases.coroutines()
  local function numbers(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
  local sum = 0
  for _ = 1, 300 do for i in numbers(1000) do sum = sum + i end end
  print(sum)
end

function cases.callbacks()
  ffi.cdef("void qsort(void *, size_t, size_t, int (*)(const int *, const int *));")
  local n, v = 3000, ffi.new("int[3000]")
  local compare = ffi.cast("int (*)(const int *, const int *)", function(a, b) return a[0] - b[0] end)
  for _ = 1, 10 do
    for i = 0, n - 1 do v[i] = i * 7919 % 3001 end
    ffi.C.qsort(v, n, 4, compare)
  end
  compare:free()
  print(v[0], v[1], v[n - 1])
end

function cases.hooks()
  local n, sum = 0, 0
  debug.sethook(function() n = n + 1 end, "", 1000)
  for i = 1, 3e5 do sum = sum + i % 7 end
  debug.sethook()
  print(n > 0, sum)
end

function cases.attach()
  local seen = {}
  local function watch(what) seen[what] = (seen[what] or 0) + 1 end
  jit.off(watch)
  jit.attach(watch, "trace")
  for i = 1, 1000 do seen[1] = i end
  jit.attach(watch)
  local f = loadstring("local x for i = 1, 1000 do x = i end return x")
  print(seen.start, seen.stop, seen.abort, f())
end

function cases.profiler()
  local p = require("jit.p")
  p.start("fi1", "/dev/null")
  local x = 0
  for i = 1, 3e7 do x = x + i % 3 end
  p.stop()
  print(x)
end

function cases.fork()
  ffi.cdef("int fork(void); int waitpid(int, int *, int); void _exit(int);")
  local x = 0
  for i = 1, 3e6 do x = x + i % 5 end
  local pid = ffi.C.fork()
  if pid == 0 then
    local g = loadstring("local x = 0 for i = 1, 3e6 do x = x + i % 11 end return x")
    ffi.C._exit(g() == 14999985 and 5 or 6)
  end
  local status = ffi.new("int[1]")
  ffi.C.waitpid(pid, status, 0)
  for i = 1, 3e6 do x = x + i % 5 end
  print(x, status[0])
end

function cases.signals()
  ffi.cdef("typedef void (*handler)(int); handler signal(int, handler); unsigned alarm(unsigned); int raise(int);")
  local n = 0
  local h = ffi.cast("handler", function() n = n + 1 end)
  jit.off(true, true)
  ffi.C.signal(10, h)
  for _ = 1, 50 do ffi.C.raise(10) end
  print(n)
end

function cases.collect()
  local t = setmetatable({}, { __gc = true, __mode = "k" })
  for i = 1, 2e5 do t[{}] = newproxy(true) end
  collectgarbage()
  print(next(t))
end

function cases.threads()
  local spin = ffi.load(arg[2])
  ffi.cdef("void spin_start(double seconds); void spin_join(void);")
  spin.spin_start(0.2)
  local x, stop = 0, os.time() + 0
  for i = 1, 2e7 do x = x + i % 3 end
  spin.spin_join()
  print(x)
end

function cases.states()
  ffi.cdef([[
    typedef struct lua_State lua_State; lua_State *luaL_newstate(void); void luaL_openlibs(lua_State *);
    int luaL_loadstring(lua_State *, const char *); int lua_pcall(lua_State *, int, int, int); double lua_tonumber(lua_State *, int);
    void lua_close(lua_State *);
  ]])
  local C, sum = ffi.C, 0
  for _ = 1, 3 do
    local L = C.luaL_newstate()
    C.luaL_openlibs(L)
    C.luaL_loadstring(L, "local x = 0 for i = 1, 2e6 do x = x + i % 7 end return x")
    C.lua_pcall(L, 0, 1, 0)
    sum = sum + C.lua_tonumber(L, -1)
    C.lua_close(L)
  end
  print(sum)
end

function cases.strings()
  local t = {}
  for i = 1, 2e5 do t[#t + 1] = ("%d:%s"):format(i, tostring(i):rep(3)):upper():gsub("1", "one") end
  table.sort(t)
  print(#table.concat(t))
end

cases[arg[1]]()
