-- Programs give the same output, and whole recordings with exact books,
-- whether the profiler is idle or running, compiled code or not. The expected
-- output lies beside the programs, so builds are compared with each other, too.
--
--   luajit same_output.lua [all [off [directory [directory of the programs]]]]

arg[1] = arg[1] or "all"
local H = require("harness")
local decode = require("decode")

local here = arg[4] or "."
local programs = { "trees", "strings", "closures", "json", "coroutines", "build" }

local modes = { "idle" }
local path = H.path()
local started, _, errno = misc.memprof.start(path)
local ENOSYS = 38 -- What a VM says that is built without the profiler.
if started then
  misc.memprof.stop()
  modes = { "idle", "compact", "rfc", "tarantool" }
elseif errno ~= ENOSYS then
  H.ok(false, "start: errno %s", tostring(errno))
end

local function run(program, mode, jit_mode)
  local cmd = H.command(H.luajit, here .. "/run_prog.lua", here .. "/programs/" .. program .. ".lua",
                        mode, path, jit_mode)
  local p = assert(io.popen(cmd .. " 2>&1"))
  local out = p:read("*a")
  p:close()
  return out
end

for _, program in ipairs(programs) do
  local expected = decode.slurp(here .. "/programs/" .. program .. ".out")
  for _, jit_mode in ipairs(H.has_jit and { "off", "on" } or { "off" }) do
    for _, mode in ipairs(modes) do
      H.case(("%s, JIT %s, %s"):format(program, jit_mode, mode), function()
        os.remove(path)
        H.eq(run(program, mode, jit_mode), expected, "output")
        if mode ~= "idle" then
          H.jit_switch(H.decoder_jit)
          local live, errors = {}, 0
          local s = decode.stream(decode.slurp(path), function(e)
            if e.oaddr then
              if live[e.oaddr] and live[e.oaddr] ~= e.osize then errors = errors + 1 end
              live[e.oaddr] = nil
            end
            if e.naddr then
              if live[e.naddr] then errors = errors + 1 end
              live[e.naddr] = e.nsize
            end
          end)
          H.jit_switch(false)
          H.ok(s.whole, "the stream is not whole: %s at %s", s.error, s.offset)
          H.eq(errors, 0, "events that cannot be")
          H.ok(s.nevents > 1000, "%d events", s.nevents)
          if s.totals then
            H.eq(s.meta.live + s.bytes_in - s.bytes_out, s.totals.live, "TOTALS live")
          end
        end
      end)
    end
  end
end

os.remove(path)
H.done()
