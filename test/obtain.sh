# What tests unpack: Debian's packages, which are never installed, and sources of
# packages. No test downloads: test/obtain has done it before, into the folder
# that `cache` names.
# shellcheck shell=bash disable=SC2034

cache=${LJPROF_CACHE_DIR-$build/source}
debs=$cache/debs

# The packages that bring luacheck and Penlight.
luacheck_packages=(lua-check lua-argparse lua-filesystem lua-penlight)

# nginx with Lua, and wrk, which loads it.
nginx_packages=(nginx libnginx-mod-http-lua libnginx-mod-http-ndk lua-resty-core
  lua-resty-lrucache libluajit2-5.1-2 libluajit-5.1-2 wrk)

# Neovim with what it needs.
neovim_packages=(neovim neovim-runtime libluajit-5.1-2 libmsgpackc2 libtermkey1
  libtree-sitter0 libunibilium4 libuv1 libvterm0 lua-luv)

# Programs with LuaJIT inside whose code is looked at, stripped.
stock_packages=(luajit libluajit-5.1-2 libluajit2-5.1-2 nginx
  libnginx-mod-http-lua tarantool)

# Both LuaJITs of Debian, all of them.
luajit_packages=(luajit libluajit-5.1-2 libluajit-5.1-dev libluajit-5.1-common
  luajit2 libluajit2-5.1-2 libluajit2-5.1-dev libluajit2-5.1-common)

# The file of a package that was fetched, or the folder of source:PACKAGE; else
# nothing.
obtained() {
  case $1 in
    source:*) compgen -G "$cache/sources/${1#*:}" ;;
    *) compgen -G "$debs/${1}_*.deb" ;;
  esac
}

# True if all of these were fetched; else says which one was not, as a reason to
# skip.
have() {
  local package
  for package; do
    obtained "$package" > /dev/null || {
      echo "skipped: no package $package: test/obtain did not get it"
      return 1
    }
  done
}

# Unpacks a package into the folder $2, unless that is there. Others may do the
# same meanwhile.
unpack_package() {
  [ ! -d "$2" ] || return 0
  mkdir -p "${2%/*}" && dpkg-deb -x "$(obtained "$1")" "$2.$$" || return 1
  mv -T "$2.$$" "$2" 2> /dev/null || rm -rf "$2.$$"
  [ -d "$2" ]
}
