-- A JSON parser in Lua, over a text that it makes: strings, patterns, tables, recursion, errors.
local N = tonumber(arg[1]) or 60
local find, sub, byte = string.find, string.sub, string.byte
local value

local function fail(s, at, what)
  error(("byte %d: %s"):format(at, what), 0)
end

local function space(s, at)
  return find(s, "[^ \t\r\n]", at) or #s + 1
end

local escapes = { n = "\n", t = "\t", r = "\r", b = "\b", f = "\f", ["/"] = "/", ["\\"] = "\\", ['"'] = '"' }

local function text(s, at)
  local parts, from = {}, at + 1
  while true do
    local stop = find(s, '["\\]', from)
    if not stop then fail(s, at, "a string without end") end
    parts[#parts + 1] = sub(s, from, stop - 1)
    if byte(s, stop) == 34 then return table.concat(parts), stop + 1 end
    local c = sub(s, stop + 1, stop + 1)
    if c == "u" then
      parts[#parts + 1] = string.char(tonumber(sub(s, stop + 2, stop + 5), 16) % 256)
      from = stop + 6
    else
      parts[#parts + 1] = escapes[c] or fail(s, stop, "an unknown escape")
      from = stop + 2
    end
  end
end

local function array(s, at)
  local t = {}
  at = space(s, at + 1)
  if byte(s, at) == 93 then return t, at + 1 end
  while true do
    t[#t + 1], at = value(s, at)
    at = space(s, at)
    local c = byte(s, at)
    if c == 93 then return t, at + 1 end
    if c ~= 44 then fail(s, at, "a comma expected") end
    at = space(s, at + 1)
  end
end

local function object(s, at)
  local t, key = {}
  at = space(s, at + 1)
  if byte(s, at) == 125 then return t, at + 1 end
  while true do
    if byte(s, at) ~= 34 then fail(s, at, "a key expected") end
    key, at = text(s, at)
    at = space(s, at)
    if byte(s, at) ~= 58 then fail(s, at, "a colon expected") end
    t[key], at = value(s, space(s, at + 1))
    at = space(s, at)
    local c = byte(s, at)
    if c == 125 then return t, at + 1 end
    if c ~= 44 then fail(s, at, "a comma expected") end
    at = space(s, at + 1)
  end
end

function value(s, at)
  local c = byte(s, at)
  if c == 123 then return object(s, at) end
  if c == 91 then return array(s, at) end
  if c == 34 then return text(s, at) end
  local from, to = find(s, "^-?%d+%.?%d*[eE]?[-+]?%d*", at)
  if from then return tonumber(sub(s, from, to)), to + 1 end
  for word, v in pairs({ ["true"] = true, ["false"] = false, null = 0 }) do
    if sub(s, at, at + #word - 1) == word then return v, at + #word end
  end
  fail(s, at, "a value expected")
end

local records = {}
for i = 1, 300 do
  records[i] = ('{"id": %d, "name": "record \\"%d\\"", "tags": ["a", "b\\u0041", true, null], "score": %.3f, "in": {"x": [1, 2, [3]]}}')
    :format(i, i * 7919 % 1009, i / 7)
end
local source = "[" .. table.concat(records, ",\n") .. "]"
local sum = 0
for _ = 1, N do
  local t = value(source, 1)
  for _, r in ipairs(t) do sum = sum + r.id + #r.name + r.score end
end
print(("%.3f"):format(sum), select(2, pcall(value, "[1, }", 1)))
