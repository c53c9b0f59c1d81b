-- `luarocks make tools/nginx/lua-resty-ljprof-scm-1.rockspec`, at the top of the
-- source. cmake/dist makes the rockspec of a release of it.

rockspec_format = "3.0"
package = "lua-resty-ljprof"
version = "scm-1"
source = {
  url = "file://.", -- What `luarocks make` builds is the source at hand.
}
description = {
  summary = "Starts and stops memory recordings of nginx's workers, on request",
  detailed = [[
A location for ngx_lua that makes one worker or all of them record which line of
which Lua function allocates, write a heap dump, and stop. It uses the module
memprof, or a LuaJIT that has the recorder built in; lj-parse-memprof reports
what was recorded.]],
  license = "MIT",
}
supported_platforms = {"linux"}
dependencies = {"lua == 5.1"}
build = {
  type = "builtin",
  modules = {
    ["resty.ljprof"] = "tools/nginx/lib/resty/ljprof.lua",
  },
}
