# Programs of Debian that have LuaJIT inside: nginx, tarantool, wrk.
# shellcheck shell=bash disable=SC2154,SC2034

port=$((20000 + $$ % 10000))

# nginx with one worker, and with the library of package $1 or a folder.
# Sets `target` to the worker.
start_nginx() {
  local libraries=$1 modules=$build/stock handlers='' page
  mkdir -p "$dir/nginx"
  for page in handle forget tell; do
    handlers+="location = /$page { content_by_lua_block { require('nginx_work').$page() } } "
  done
  cat > "$dir/nginx.conf" << END
daemon off; worker_processes 1; pid $dir/nginx/pid; error_log $dir/nginx/error;
user $(id -un) $(id -gn);
load_module $modules/libnginx-mod-http-ndk/usr/lib/nginx/modules/ndk_http_module.so;
load_module $modules/libnginx-mod-http-lua/usr/lib/nginx/modules/ngx_http_lua_module.so;
events { worker_connections 128; }
http {
  access_log off;
  client_body_temp_path $dir/nginx/body; proxy_temp_path $dir/nginx/proxy;
  fastcgi_temp_path $dir/nginx/fastcgi; uwsgi_temp_path $dir/nginx/uwsgi;
  scgi_temp_path $dir/nginx/scgi;
  lua_package_path "$e2e/?.lua;$modules/lua-resty-core/usr/share/lua/5.1/?.lua;$modules/lua-resty-lrucache/usr/share/lua/5.1/?.lua;;";
  server { listen 127.0.0.1:$port; $handlers }
}
END
  LD_LIBRARY_PATH=$libraries "$build/stock/nginx/usr/sbin/nginx" \
    -e "$dir/nginx/error" -c "$dir/nginx.conf" > "$dir/target.err" 2>&1 &
  started+=("$!")
  for _ in {1..50}; do
    page handle 2> /dev/null && break
    sleep 0.1
  done
  target=$(pgrep -P "${started[-1]}")
  [ -n "$target" ] || {
    fail "nginx does not run: $(tail -n 1 "$dir/nginx/error" "$dir/target.err")"
    return 1
  }
}

# Fetches a page, without a program that may not be there.
page() {
  exec 8<> "/dev/tcp/127.0.0.1/$port" || return 1
  printf 'GET /%s HTTP/1.0\r\n\r\n' "$1" >&8
  sed '1,/^\r*$/d' <&8 > "$dir/page"
  exec 8>&-
  [ -s "$dir/page" ]
}

# Loads nginx for $1 seconds.
load() {
  LD_LIBRARY_PATH=$(stock_libraries libluajit-5.1-2) \
    "$build/stock/wrk/usr/bin/wrk" -t 1 -c 4 -d "$1" \
    "http://127.0.0.1:$port/handle" > "$dir/wrk" 2>&1
}

nginx_packages=(nginx libnginx-mod-http-lua libnginx-mod-http-ndk lua-resty-core
  lua-resty-lrucache libluajit2-5.1-2 libluajit-5.1-2 wrk)

# Under load, profiled at $2 Hz: the handler's functions, and what the sampler
# took.
nginx_case() {
  local ticks before
  start_nginx "$1" || return
  sysprof_start -p "$target" -F "$2" -f -o "$dir/folded" || return
  page forget
  before=$(awk '{ print $14 + $15 }' "/proc/$profiler/stat")
  load "$3"
  ticks=$(awk '{ print $14 + $15 }' "/proc/$profiler/stat")
  awk -v t=$((ticks - before)) -v s="$3" -v hz="$(getconf CLK_TCK)" -v f="$2" '
    /^VmHWM/ { kib = $2 }
    END {
      printf "sampler at %d Hz: %.1f%% of a core (target 1%% at 99 Hz), ", f,
        100 * t / hz / s
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
  nginx_case "$(stock_libraries libluajit2-5.1-2)" 999 4 &&
    judge 1500 6 98 97
  stop_all
  nginx_case "$(stock_libraries libluajit2-5.1-2)" 99 6
  stop_all
  # Debian's module is made for OpenResty's LuaJIT: ours, if it is one.
  if readelf -W --dyn-syms "$build/lib/libluajit-5.1.so.2" |
    grep -q ' lua_setexdata'; then
    nginx_case "$build/lib" 999 4 && judge 1500 6 98 97
  fi
  score_options=()
}

# GC32, and each fiber has a C stack of its own.
case_tarantool() {
  local tarantool=$build/stock/tarantool/usr/bin/tarantool code jit
  stock tarantool || return
  if ldd "$tarantool" | grep -q 'not found'; then
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
  start_nginx "$(stock_libraries libluajit2-5.1-2)" || return
  cat > "$dir/wrk.lua" << 'END'
function request()
  local x = 1
  for i = 1, 30000 do x = x * 0.999 + i end
  return wrk.format("GET", "/tell")
end
END
  LD_LIBRARY_PATH=$(stock_libraries libluajit-5.1-2) \
    "$build/stock/wrk/usr/bin/wrk" -t 1 -c 4 -d 4 -s "$dir/wrk.lua" \
    "http://127.0.0.1:$port/" > "$dir/wrk" 2>&1 &
  started+=("$!")
  sleep 0.5
  sysprof_start -p "$!" -F 999 -f -o "$dir/folded" || return
  sysprof_ended 0
  books_closed
  grep -q 'request@.*wrk.lua:3' "$dir/folded" ||
    fail "no script of wrk's user: $(cat "$dir/err" "$dir/wrk")" \
      "$(head -n 5 "$dir/folded")"
}
