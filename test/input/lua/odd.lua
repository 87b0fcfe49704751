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

-- Those below need the module odd (odd.c).
local function work(n) local x = 0 for i = 1, n do x = (x + i * 7) % 1000003 end return x end

function cases.defaults() require("odd").all_default() print(work(2e7)) end
function cases.caught() local odd = require("odd") odd.all_caught() print(work(2e7), odd.signals_caught()) end

function cases.blocked()
  local odd = require("odd")
  odd.block(true)
  local x = work(4e7)
  odd.block(false)
  print(x, work(1e6))
end

function cases.vms()
  local odd, x = require("odd"), 0
  odd.begin(4, "for k = 1, 40 do loadstring('local x = 0 for i = 1, 20000 do x = x + i end')() end require('lpeg') require('cjson') require('lfs')")
  for k = 1, 400 do x = x + loadstring("local x = 0 for i = 1, 20000 do x = x + i end return x")() end
  odd.join()
  print(x)
end

function cases.children()
  local odd, x = require("odd"), 0
  for i = 1, 40 do x = x + odd.child(i % 2 == 0) + work(1e5) end
  print(x)
end

function cases.jumps()
  local odd, x = require("odd"), 0
  for i = 1, 1e5 do x = x + odd.jump(i % 20) end
  print(x)
end

function cases.stack() print(require("odd").on_other_stack(function() return work(2e7) end)) end
function cases.elsewhere() require("odd").exit_elsewhere(6) while true do work(1e6) end end

-- A fork that the C library knows nothing of; both go on, compile, and load objects.
function cases.rawfork()
  ffi.cdef("long syscall(long, ...); int waitpid(int, int *, int);")
  io.stdout:setvbuf("no")
  local pid, x = tonumber(ffi.C.syscall(57)), 0
  for _ = 1, 50 do x = x + loadstring("local x = 0 for i = 1, 1e5 do x = x + i end return x")() end
  if pid == 0 then
    require("lpeg")
    os.exit(x == 50 * 5000050000 and 2 or 3)
  end
  local status = ffi.new("int[1]")
  ffi.C.waitpid(pid, status, 0)
  for _ = 1, 50 do x = x + loadstring("local x = 0 for i = 1, 1e5 do x = x + i end return x")() end
  print(x, status[0])
end

-- Where a handler finds itself, and what it is told.
function cases.handlers()
  local function tell(...)
    local at, words = debug.getinfo(2, "Sl"), {}
    for i = 1, select("#", ...) do
      local v = select(i, ...)
      words[i] = type(v) == "function" and "function" or tostring(v)
    end
    print(at and at.short_src, at and at.currentline, debug.getinfo(3) ~= nil, table.concat(words, " "))
  end
  local function fails() error("in a handler") end
  jit.off(tell)
  jit.off(fails)
  jit.attach(tell, "trace")
  local x = 0
  for i = 1, 100 do x = x + (i < 80 and 1 or 2) end
  jit.flush()
  jit.attach(fails, "trace")
  jit.attach(tell)
  for i = 1, 100 do x = x + i end
  jit.attach(fails)
  jit.attach(fails, "bc")
  print(loadstring("return 1")(), x)
  jit.attach(fails)
  print(pcall(jit.attach), pcall(jit.attach, 1, "trace"), pcall(jit.attach, print, {}), pcall(jit.attach, print, "nosuch"))
end

cases[arg[1]]()
