-- Two functions of equal code: a long loop and a short one.  With --hotloop 30000 the short one stays below the threshold.
local body = ("x = (x * 1.0000001 + i) % 1e6\n"):rep(60)
local function make(name)
  return loadstring("local n = ...\nlocal x = 1\nfor i = 1, n do\n" .. body .. "end\nreturn x", "=" .. name)
end
print(make("cold")(29990) > 0, make("hot")(300000) > 0)
