# Programs of Debian that have LuaJIT inside: nginx, tarantool, wrk.
# shellcheck shell=bash disable=SC2154,SC2034

# shellcheck source=SCRIPTDIR/../nginx/server.sh
. "$e2e/../nginx/server.sh"

# nginx with the libraries of the folders $1. Sets `target` to its worker.
start_handler() {
  local pages='' name
  for name in handle forget tell; do
    pages+="location = /$name { content_by_lua_block { require('nginx_work').$name() } } "
  done
  # The first request finds out how much work a millisecond is.
  start_nginx "$1" "$e2e/programs" "$pages" && page handle
}

# Under load until the worker has used $3 seconds, profiled at $2 Hz: the
# handler's functions, and what the sampler took.
nginx_case() {
  local before worked start
  start_handler "$1" || return
  sysprof_start -p "$target" -F "$2" -f --native -o "$dir/folded" || return
  page forget
  before=$(cpu_of "$profiler") start=${EPOCHREALTIME/[.,]/}
  worked=$(cpu_of "$target")
  until has_used "$target" "$worked" "$3"; do
    load 1 handle
  done
  awk -v t="$(cpu_of "$profiler")" -v before="$before" -v f="$2" \
    -v us=$((${EPOCHREALTIME/[.,]/} - start)) '
    /^VmHWM/ { kib = $2 }
    END {
      printf "sampler at %d Hz: %.1f%% of a core (target 1%% at 99 Hz), ", f,
        1e8 * (t - before) / us
      printf "%.1f MiB (target 64)\n", kib / 1024
    }' "/proc/$profiler/status" | tee "$dir/cost"
  awk '{ exit $(NF - 3) > 64 }' "$dir/cost" || fail "$(cat "$dir/cost")"
  page tell
  kill -INT "$profiler"
  sysprof_ended 0
  books_closed
  tr -d '\r' < "$dir/page" > "$dir/truth"
}

case_nginx() {
  stock "${nginx_packages[@]}" || return
  extra_modules=("$build/stock/nginx/usr/sbin/nginx")
  score_options=(-n)
  nginx_case "$(stock_libraries libluajit2-5.1-2)" 999 2.5 &&
    judge 1500 6 98 97
  stop_all
  nginx_case "$(stock_libraries libluajit2-5.1-2)" 99 3
  stop_all
  # Debian's module is made for OpenResty's LuaJIT: ours, if it is one.
  if takes_nginx "$build/lib"; then
    nginx_case "$build/lib" 999 2.5 && judge 1500 6 98 97
  fi
  score_options=()
}

# GC32, and each fiber has a C stack of its own.
case_tarantool() {
  # It has so much code that its first samples come late: after 0.7 seconds on a
  # busy machine.
  local tarantool=$build/stock/tarantool/usr/bin/tarantool code jit work=3
  stock tarantool || return
  if ldd "$tarantool" | grep 'not found' > /dev/null; then
    skip "tarantool has not $(ldd "$tarantool" | grep 'not found')"
    return
  fi
  score_options=(-R coro_init)
  for jit in on off; do
    code=''
    [ "$jit" = on ] || code="-e 'jit.off()'"
    # As start_target has it: with -jon or -joff first.
    printf '#!/bin/sh\nshift\nexec %s %s "$@"\n' "$tarantool" "$code" > "$dir/tarantool"
    chmod +x "$dir/tarantool"
    profile "$dir/tarantool" "$jit" split 98 97
    stop_all
    profile "$dir/tarantool" "$jit" pcalls 98 97
    stop_all
  done
  score_options=()
}

# Debian's wrk runs a Lua script of its user in its own VM.
case_wrk() {
  stock "${nginx_packages[@]}" || return
  start_handler "$(stock_libraries libluajit2-5.1-2)" || return
  cat > "$dir/wrk.lua" << 'END'
function request()
  local x = 1
  for i = 1, 30000 do x = x * 0.999 + i end
  return wrk.format("GET", "/tell")
end
END
  LD_LIBRARY_PATH=$(stock_libraries libluajit-5.1-2) \
    "$build/stock/wrk/usr/bin/wrk" -t 1 -c 4 -d 600 -s "$dir/wrk.lua" \
    "http://127.0.0.1:$port/" > "$dir/wrk" 2>&1 &
  target=$!
  started+=("$target")
  sysprof_start -p "$target" -F 999 -f --native -o "$dir/folded" || return
  await_cpu "$target" 1
  kill -KILL "$target"
  sysprof_ended 0
  books_closed
  grep -q 'request@.*wrk.lua:3' "$dir/folded" ||
    fail "no script of wrk's user: $(cat "$dir/err" "$dir/wrk")" \
      "$(head -n 5 "$dir/folded")"
}
