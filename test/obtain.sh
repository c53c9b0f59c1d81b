# Debian's packages, for tests: fetched through apt, kept, never installed.
# shellcheck shell=bash

obtain_package=$(cd "$(dirname "${BASH_SOURCE[0]}")/../luajit-patches" &&
  pwd)/debian-package

# The packages that bring luacheck and Penlight.
# shellcheck disable=SC2034
real_packages=(lua-check lua-argparse lua-filesystem lua-penlight)

# Those of doc/heap-guide.md: luacheck, Neovim, nginx with Lua, and wrk.
# shellcheck disable=SC2034
heap_packages=(lua-check lua-argparse lua-filesystem neovim neovim-runtime
  libluajit-5.1-2 libmsgpackc2 libtermkey1 libtree-sitter0 libunibilium4 libuv1
  libvterm0 lua-luv nginx libnginx-mod-http-lua libnginx-mod-http-ndk
  lua-resty-core lua-resty-lrucache libluajit2-5.1-2 wrk)

# Downloads into $2, below the cache $1, unless it is there; more arguments are
# debian-package's. Others may do the same meanwhile.
obtain() {
  local to=$1/$2 new=$1/$2.$$ options=()
  shift 2
  [ "$1" != -b ] || {
    options=(-b)
    shift
  }
  [ ! -d "$to" ] || return 0
  mkdir -p "${to%/*}"
  "$obtain_package" "${options[@]}" "$new" "$@" > "$new.log" 2>&1 || {
    echo "skipped: $(tail -n 1 "$new.log")"
    rm -rf "$new" "$new.log"
    return 1
  }
  rm "$new.log"
  mv -T "$new" "$to" 2> /dev/null || rm -rf "$new"
}
