# wrk: each of its threads has a VM that runs the user's script. The program
# ends without lua_close, so that nobody ends the recordings but the end of the
# process.
# shellcheck shell=bash disable=SC2154,SC2034

mapfile -t packages < <(with_dependencies wrk)

run_program() {
  cat > "$dir/wrk.lua" << END
local threads = 0
function setup(thread)
  threads = threads + 1
  thread:set("name", "wrk" .. threads)
end

local work
function init()
  work = dofile("$real/work.lua")("$dir/" .. name, $work_seconds / 2)
  work.start()
end

function request()
  work.step("leave")
  return wrk.format("GET", "/")
end
END
  mkdir "$dir/pages"
  echo hello > "$dir/pages/index.html"
  python3 -m http.server --bind 127.0.0.1 --directory "$dir/pages" "$port" \
    > "$dir/target.err" 2>&1 &
  started+=("$!")
  await_port || return
  LD_LIBRARY_PATH=$libraries sysprof_start "${strict[@]}" -- \
    "$build/stock/wrk/usr/bin/wrk" -t 2 -c 4 -d 120 -s "$dir/wrk.lua" \
    "http://127.0.0.1:$port/" || return
  await_work wrk1 wrk2
  pkill -INT -P "$profiler" # Ends wrk as Ctrl-C does.
  sysprof_ended 0
  cat "$dir/out"
  judge wrk1 wrk2
}
