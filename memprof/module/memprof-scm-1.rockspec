-- `luarocks make memprof/module/memprof-scm-1.rockspec`, at the top of the
-- source, builds and installs memprof.so for the LuaJIT that LuaRocks knows.
-- The environment's LUAJIT_SOURCE_DIR is cmake's option of that name. cmake/dist
-- makes the rockspec of a release of it.

rockspec_format = "3.0"
package = "memprof"
version = "scm-1"
source = {
  url = "file://.", -- What `luarocks make` builds is the source at hand.
}
description = {
  summary = "Records what a program allocates, in LuaJITs of known layouts",
  detailed = [[
Records which line of which Lua function allocates, reallocates and frees, in the
interpreter and on JIT-compiled traces alike, in a LuaJIT that is not changed
for it: upstream's and OpenResty's, on x64. It refuses to run in others.
lj-parse-memprof, of the same source, reports what was recorded.]],
  license = "MIT",
}
supported_platforms = {"linux"}
dependencies = {"lua == 5.1"}
build = {
  type = "command",
  build_command = [[
cmake -S . -B build-rock -D BUILD_TESTING=OFF -D CMAKE_BUILD_TYPE=Release \
  ${LUAJIT_SOURCE_DIR:+-D LUAJIT_SOURCE_DIR="$LUAJIT_SOURCE_DIR"} &&
cmake --build build-rock --target memprof-module]],
  install = {
    lib = {memprof = "build-rock/lib/lua/5.1/memprof.so"},
  },
  copy_directories = {"doc"},
}
