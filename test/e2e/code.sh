# Where code can be: modules that come late, threads, other processes, other
# embedders, containers.
# shellcheck shell=bash disable=SC2154,SC2034

case_late() {
  profile "$luajit" on late 98 97
  profile "$luajit" off late 98 97
}

case_threads() {
  profile "$build/lib" on vms 98 97
  profile "$build/lib" off vms 98 97
}

case_shared() {
  profile "$build/lib" on callbacks 98 97
  profile "$build/lib" off crossings 98 97
}

case_ffi() {
  profile "$luajit" on ffi 98 97
  profile "$luajit" off ffi 98 97
}

# A target that starts processes all the time.
case_fork() {
  programs_in=$e2e profile "$luajit" off fork 95 90
}

# Debian's own, stripped.
case_stock() {
  stock luajit libluajit-5.1-2 libluajit2-5.1-2 || return
  profile "$build/stock/luajit/usr/bin/luajit" on split 98 97
  profile "$build/stock/luajit/usr/bin/luajit" off metamethods 98 97
  profile "$(stock_libraries libluajit-5.1-2 | cut -d : -f 1)" off coroutines 98 97
  profile "$(stock_libraries libluajit2-5.1-2 | cut -d : -f 1)" on pcalls 98 97
}

# Copies a program and its libraries into a root of its own.
furnish() {
  local root=$1 file
  mkdir -p "$root/bin" "$root/bench" "$root/proc"
  # The name is that of another program outside.
  cp "$luajit" "$root/bin/true"
  ldd "$luajit" | grep -oE '/[^ ]+' | while read -r file; do
    mkdir -p "$root/$(dirname "$file")"
    cp -L "$file" "$root/$file"
  done
  cp "$here"/programs/*.lua "$dir/cbench.so" "$root/bench"
}

# Another mount namespace, root and pid namespace: paths of its maps are other
# files outside, or none.
case_container() {
  mkdir -p "$dir/root"
  rm -f "$dir/go"
  mkfifo "$dir/go"
  export -f furnish
  export dir here luajit
  # shellcheck disable=SC2016
  TRUTH_GO=1 LUA_PATH='/bench/?.lua' LUA_CPATH='/bench/?.so' \
    unshare --mount --pid --fork bash -c '
      mount -t tmpfs none "$dir/root" && furnish "$dir/root" &&
        exec chroot "$dir/root" /bin/true -joff /bench/split.lua 3' \
    < "$dir/go" > "$dir/truth" 2> "$dir/target.err" &
  started+=("$!")
  exec 9> "$dir/go"
  for _ in {1..100}; do
    ! grep -q '^truth ready' "$dir/truth" || break
    sleep 0.1
  done
  grep -q '^truth ready' "$dir/truth" || {
    skip "no container: $(tail -n 1 "$dir/target.err")"
    return
  }
  target=$(pgrep -P "${started[-1]}")
  sysprof_start -p "$target" -F 999 -f -o "$dir/folded" || return
  go
  sysprof_ended 0
  books_closed
  mkdir -p "$dir/as"
  cp "$luajit" "$dir/as/true"
  extra_modules=("$dir/as/true")
  judge 2000 6 98 97
}

# The profiler and its target in a pid namespace: pids are the namespace's.
case_pid_namespace() {
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --mount-proc bash -c '
    "$1" -joff "$2/programs/split.lua" 3 > "$3/truth" 2> "$3/target.err" &
    sleep 0.5
    "$4" -p $! -F 999 -f -o "$3/folded" 2> "$3/err"' \
    x "$luajit" "$here" "$dir" "$sysprof" || fail "status $?: $(cat "$dir/err")"
  books_closed
  extra_modules=("$luajit")
  judge 1500 8 98 97
}

# Programs whose stacks are deep.
case_deep() {
  profile "$luajit" off recursion 98 97
  profile "$luajit" on recursion 98 97
  profile "$luajit" on crossings 98 97
}
