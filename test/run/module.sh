# ljprof run of a LuaJIT that was not patched: Debian's, unpacked by test/stock.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

prepare() {
  stock=$build/stock/luajit/usr/bin/luajit
  library=$(compgen -G "$build/stock/libluajit-5.1-2/usr/lib/*/libluajit-5.1.so.2")
  [[ -n $library && -x $stock ]] || skip "Debian's LuaJIT is not there"
  if [ "$(id -u)" -eq 0 ]; then
    limited=(setpriv --bounding-set=-all --inh-caps=-all --)
  fi
  cat > "$dir/host.c" << 'END'
#include <lauxlib.h>
#include <lualib.h>
int main(int argc, char **argv)
{
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  return luaL_loadfile(L, argv[argc - 1]) || lua_pcall(L, 0, 0, 0);
}
END
  "${CC:-cc}" -o "$dir/host" "$dir/host.c" -I"$build/include/luajit-2.1" \
    "$library" -Wl,-rpath,"${library%/*}" || exit 1
}

# By LUA_INIT. The user's own is executed, too; paths are as without.
case_init() {
  local paths
  paths=$("$stock" -e 'print(package.path, package.cpath, package.loaded.memprof)')
  echo 'initial = 7' > init.lua
  echo 'print(initial, package.path, package.cpath, package.loaded.memprof)' >> app.lua
  sed -i '/os.exit/d' app.lua
  for init in 'initial = 7' @init.lua; do
    LUA_INIT=$init ljprof run --memory -o "$init.html" "$stock" app.lua
    said 0 'memprof.so by LUA_INIT'
    [ "$(tail -n 1 ../out)" = $'7\t'"$paths" ] || fail "$(cat ../out)"
    recorded "$init"
  done
}

# In a shared library: preloaded, with a stack.
case_preload() {
  sed -i 's/#arg, //' app.lua
  ljprof run --memory "$dir/host" app.lua
  said 0 'memprof.so, preloaded'
  recorded app
  "$ljprof" report --view=tree app.ljprof | grep -q 'app.lua' || fail 'no stacks'
}

# A script of its own interpreter; it is named as any other.
case_script() {
  ln -s "$stock" luajit
  { echo '#!/usr/bin/env luajit'; tail -n +2 app.lua; } > script.lua
  chmod +x script.lua
  PATH=$PWD:$PATH ljprof run --memory ./script.lua x
  said 0 'memprof.so by LUA_INIT' '^Page: script.html'
  [ "$(cat ../out)" = $'1\tx' ] || fail "$(cat ../out)"
}

# A shell starts both kinds, and a patched LuaJIT.
case_all() {
  sed -i 's/#arg, //' app.lua
  ljprof run --memory -o app.html -- sh -c 'for p; do "$p" app.lua; done' - \
    "$stock" "$dir/host" "$luajit"
  said 0
  [ "$(find app.ljprof -name 'memory-*.ljm' | wc -l)" -eq 3 ] || fail "$(ls app.ljprof)"
  [ "$(allocations app.ljprof 'app.lua:0, line 4')" -ge 15000 ] || fail 'not all'
}

# A LuaJIT inside of a program that reads nothing: there is no way in.
case_none() {
  sed 's/LUA_INIT/NOT_INIT/g' "$stock" > inside
  chmod +x inside
  ljprof run --memory ./inside app.lua
  said 2 'memory is left out: ./inside has a LuaJIT of its own without the'
  # -E: LUA_INIT is not read.
  ljprof run --memory "$stock" -E app.lua
  said 2 'no memory was recorded: .* \(luajit -E\)'
}

# Another Lua has a luaL_openlibs, too.
case_other_lua() {
  printf '%s\n' 'void luaL_openlibs(void *L) { *(int *)L = 7; }' > lua.c
  printf '%s\n' 'void luaL_openlibs(void *); int main(void)' \
    '{ int i = 0; luaL_openlibs(&i); return i; }' > main.c
  "${CC:-cc}" -shared -fPIC -o liblua.so lua.c || fail 'cc'
  "${CC:-cc}" -o main main.c ./liblua.so || fail 'cc'
  ljprof run --memory ./main
  said 7 'no memory was recorded'
}
