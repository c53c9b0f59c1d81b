# ljprof run of programs of Debian with LuaJIT inside, as they are: nothing of
# them, of their configuration or of the scripts is changed.
# shellcheck shell=bash disable=SC2154,SC2034

# Unpacks packages of Debian, once. Sets `debian` to where.
unpack() {
  local package
  # shellcheck source=SCRIPTDIR/../obtain.sh
  . "$here/../obtain.sh"
  have "${neovim_packages[@]}" "${nginx_packages[@]}" || exit 77
  debian=$build/run/debian
  [ ! -d "$debian" ] || return 0
  rm -rf "$debian.new"
  mkdir -p "$build/run"
  # nginx needs OpenResty's LuaJIT: in the place of both, it is the last.
  for package in "${neovim_packages[@]}" "${nginx_packages[@]}" libluajit2-5.1-2; do
    dpkg-deb -x "$(obtained "$package")" "$debian.new" || exit 1
  done
  mv "$debian.new" "$debian"
}

prepare() {
  [ "$(id -u)" -eq 0 ] || skip "BPF is for root"
  grep -q 'luajit2 GC64' "$build/lib/lua/5.1/memprof.so" ||
    skip "memprof.so does not know OpenResty's LuaJIT"
  unpack
  "$build/bin/lj-sysprof" -q -o "$dir/try.ljp" -- "$luajit" \
    -e 'for _ = 1, 3e8 do end' > "$dir/out" 2>&1 || skip "$(head -n 1 "$dir/out")"
  multiarch=$(compgen -G "$debian/usr/lib/*-linux-gnu" | head -n 1)
  export LD_LIBRARY_PATH=$multiarch
  export VIMRUNTIME=$debian/usr/share/nvim/runtime
  # shellcheck source=SCRIPTDIR/../port.sh
  . "$here/../port.sh"
  free_port
}

# Both kinds of recordings of $1; line $2 has made between $3 and $4 tables.
both() {
  local n
  grep -q '</html>' "$1.html" || fail "no page: $(cat ../err)"
  [ -e "$1.ljprof/cpu.ljp" ] || fail "no CPU time: $(cat ../err)"
  n=$(allocations "$1.ljprof" "$2")
  [[ ${n:-0} -ge $3 && $n -le $4 ]] ||
    fail "${n:-no} allocations in $2, not $3 to $4: $(cat ../err)"
}

# Under load, half a second may pass before what it maps is read.
case_nvim() {
  sed -i '/os.exit/d' app.lua
  sed -i 's/burn(0.5)/burn(5)/' busy.lua
  ljprof run -o nvim.html -- "$debian/usr/bin/nvim" --headless --clean \
    -c 'luafile app.lua' -c 'luafile busy.lua' -c q
  said 0 'memprof.so, preloaded' 'burn, busy.lua:6'
  both nvim 'app.lua:0, line 4' 5000 5100
}

# Waits until nginx listens.
await_nginx() {
  local i
  for ((i = 0; i < 600; i++)); do
    ! (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null || return 0
    sleep 0.1
  done
  fail "nginx does not listen: $(cat ../nginx.err)"
}

# nginx as root: its workers run as nobody. wrk loads it, with a script.
case_nginx_and_wrk() {
  local pid requests tables
  mkdir tmp
  cat > nginx.conf << END
load_module $debian/usr/lib/nginx/modules/ndk_http_module.so;
load_module $debian/usr/lib/nginx/modules/ngx_http_lua_module.so;
worker_processes 2;
pid $PWD/pid;
error_log stderr;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp;
  uwsgi_temp_path tmp; scgi_temp_path tmp;
  lua_package_path "$debian/usr/share/lua/5.1/?.lua;;";
  server {
    listen 127.0.0.1:$port;
    location / { content_by_lua_file $PWD/serve.lua; }
  }
}
END
  printf '%s\n' 'jit.off() local t' 'for i = 1, 20 do' '  t = {}' 'end' \
    'ngx.say(type(t))' > serve.lua
  printf '%s\n' 'local all = {}' 'function request()' '  all[#all + 1] = {}' \
    '  return wrk.format("GET", "/")' 'end' > load.lua
  "$ljprof" run -o nginx.html -- "$debian/usr/sbin/nginx" -p "$PWD/" -c nginx.conf \
    -e stderr -g 'daemon off;' > ../nginx.out 2> ../nginx.err &
  pid=$!
  await_nginx
  ljprof run -o wrk.html -- "$debian/usr/bin/wrk" -t 2 -c 4 -d 1 -s load.lua \
    "http://127.0.0.1:$port/"
  said 0 'memprof.so, preloaded'
  requests=$(sed -nE 's/ *([0-9]+) requests in .*/\1/p' ../out)
  # Those that wrk does not count any more are few.
  both wrk 'load.lua:2, line 3' "$requests" $((requests + 500))
  kill -QUIT "$(cat pid)"
  wait "$pid"
  status=$?
  cp ../nginx.err ../err
  said 0 '^Page: nginx.html'
  both nginx 'serve.lua:0, line 3' $((20 * requests)) $((20 * requests + 2000))
  [ "$(stat -c %a nginx.ljprof)" = 1733 ] || fail "$(ls -ld nginx.ljprof)"
}
