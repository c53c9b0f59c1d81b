# Debian's nginx with its Lua module, and wrk, which loads it: unpacked, not
# installed. Needs e2e/lib.sh.
# shellcheck shell=bash disable=SC2154,SC2034

resty=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../tools/nginx/lib" && pwd)
# shellcheck source=SCRIPTDIR/../port.sh
. "$(dirname "${BASH_SOURCE[0]}")/../port.sh"
free_port

# Can Debian's Lua module run on the library in a folder? It is made for
# OpenResty's LuaJIT. (With -q, grep would end before readelf has: pipefail.)
takes_nginx() {
  readelf -W --dyn-syms "$1/libluajit-5.1.so.2" | grep ' lua_setexdata' > /dev/null
}

# Starts nginx with the libraries of the folders $1, modules of the folder $2,
# $3 within its server and $4 within http, and $5 (1) workers. Sets `target` to
# the last of them.
start_nginx() {
  local stock=$build/stock process
  mkdir -p "$dir/nginx"
  cat > "$dir/nginx.conf" << CONF
daemon off; worker_processes ${5:-1}; pid $dir/nginx/pid; error_log $dir/nginx/error;
user $(id -un) $(id -gn);
load_module $stock/libnginx-mod-http-ndk/usr/lib/nginx/modules/ndk_http_module.so;
load_module $stock/libnginx-mod-http-lua/usr/lib/nginx/modules/ngx_http_lua_module.so;
events { worker_connections 128; }
http {
  access_log off;
  client_body_temp_path $dir/nginx/body; proxy_temp_path $dir/nginx/proxy;
  fastcgi_temp_path $dir/nginx/fastcgi; uwsgi_temp_path $dir/nginx/uwsgi;
  scgi_temp_path $dir/nginx/scgi;
  lua_package_path "$2/?.lua;$resty/?.lua;$stock/lua-resty-core/usr/share/lua/5.1/?.lua;$stock/lua-resty-lrucache/usr/share/lua/5.1/?.lua;;";
  ${4-}
  server { listen 127.0.0.1:$port; $3 }
}
CONF
  LD_LIBRARY_PATH=$1 "$stock/nginx/usr/sbin/nginx" \
    -e "$dir/nginx/error" -c "$dir/nginx.conf" > "$dir/target.err" 2>&1 &
  process=$!
  started+=("$process")
  for _ in {1..600}; do
    target=$(pgrep -P "$process" | tail -n 1)
    [ -z "$target" ] || ! page / 2> /dev/null || return 0
    sleep 0.1
  done
  fail "nginx does not run: $(tail -n 1 "$dir/nginx/error" "$dir/target.err")"
  return 1
}

# Fetches a page to $dir/page, without a program that may not be there: with the
# method $2 (GET), and a line $3 in the request's head.
page() {
  exec 8<> "/dev/tcp/${host-127.0.0.1}/$port" || return 1
  printf '%s /%s HTTP/1.0\r\n%s\r\n' "${2-GET}" "${1#/}" "${3:+$3$'\r\n'}" >&8
  sed '1,/^\r*$/d' <&8 > "$dir/page"
  exec 8>&-
  [ -s "$dir/page" ]
}

# Loads nginx for $1 seconds with requests of page $2; more arguments are wrk's.
load() {
  LD_LIBRARY_PATH=$(stock_libraries libluajit-5.1-2) \
    "$build/stock/wrk/usr/bin/wrk" -t 1 -c 4 -d "$1" "${@:3}" \
    "http://127.0.0.1:$port/${2#/}" > "$dir/wrk" 2>&1
}
