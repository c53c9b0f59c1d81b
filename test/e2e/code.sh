# Where code can be: modules that come late, threads, other processes, other
# embedders, containers.
# shellcheck shell=bash disable=SC2154,SC2034

case_late() {
  profile "$luajit" on late 98 97
  profile "$luajit" off late 98 97
}

# A library is closed, and another one is mapped at its addresses.
case_in_its_place() {
  local name
  for name in one two; do
    printf 'double work_%s(long n)
      { double x = 0; while (n--) x = x * 0.999 + (double)n; return x; }
      char room_%s[1 << 20] = {1};' $name $name > "$dir/$name.c"
    cc -O1 -g -shared -fPIC -o "$dir/$name.so" "$dir/$name.c" || return
  done
  LIBRARIES=$dir programs_in=$e2e/programs launch "$luajit" off in_its_place 0 || return
  sysprof_start -p "$target" -F 999 -f --native -o "$dir/folded" || return
  go
  finish "$target"
  [ "$status" -eq 0 ] || fail "status $status: $(cat "$dir/target.err")"
  sysprof_ended 0
  grep -q 'same address' "$dir/truth" || fail "at other addresses: $(cat "$dir/truth")"
  awk '/work_one/ { one += $NF } /work_two/ { two += $NF } END { exit two < one }' \
    "$dir/folded" || fail "not what ran most: $(grep work_ "$dir/folded")"
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
  programs_in=$e2e/programs profile "$luajit" off fork 95 90
}

# Debian's own, stripped.
case_stock() {
  stock luajit libluajit-5.1-2 libluajit2-5.1-2 || return
  profile "$build/stock/luajit/usr/bin/luajit" on split 98 97
  profile "$build/stock/luajit/usr/bin/luajit" off metamethods 98 97
  profile "$(stock_libraries libluajit-5.1-2 | cut -d : -f 1)" off coroutines 98 97
  profile "$(stock_libraries libluajit2-5.1-2 | cut -d : -f 1)" on pcalls 98 97
}

# Of the samples in code of the VM in $1, stripped: at least 95% are in what is
# named, or serve a function of Lua's library, which has its name.
named_within() {
  local file=${1##*/}
  "$build/bin/lj-parse-memprof" --no-summary --native --format=folded \
    "$dir/cpu" > "$dir/folded" 2> "$dir/err"
  awk -v file="$file" '
    {
      count = $NF
      sub(/ [0-9]+$/, "")
      n = split($0, frame, ";")
    }
    !index(frame[n], file) { next }
    {
      all += count
      for (i = n; i > 0 && index(frame[i], file); i--) ;
      named = frame[n] ~ /^[(a-zA-Z_]/ && frame[n] !~ /^0x/
      if (frame[n] ~ /^\(VM, other\)/ && (i == 0 || frame[i] ~ /@/))
        named = 0
      bad += named ? 0 : count
      if (!named && count > most) {
        most = count
        worst = $0
      }
      if (frame[n] ~ /^\((allocator|collector|string table|tables|formatting)\)/)
        parts += count
    }
    END {
      printf "%d of %d samples are not named, %d are of parts\n", bad, all, parts
      if (most > 0)
        printf "most of those that are not: %d of %s\n", most, worst
      exit all < 300 || bad * 20 > all || parts * 4 < all
    }' "$dir/folded" || fail "$file: see above"
}

# What stripped VMs of Debian do is known by their code.
case_insides() {
  stock luajit || return
  sysprof -q -F 999 -o "$dir/cpu" -- "$build/stock/luajit/usr/bin/luajit" \
    "$e2e/programs/insides.lua"
  [ "$status" -eq 0 ] || fail "status $status: $(cat "$dir/err")"
  named_within luajit
  "$build/bin/lj-parse-memprof" --no-summary --format=csv "$dir/cpu" |
    awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "alloc-gc") k = i; next }
      { s += $k } END { exit s < 100 }' || fail "alloc, GC: too few"
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
  for _ in {1..600}; do
    ! grep -q '^truth ready' "$dir/truth" || break
    sleep 0.1
  done
  grep -q '^truth ready' "$dir/truth" || {
    skip "no container: $(tail -n 1 "$dir/target.err")"
    return
  }
  target=$(pgrep -P "${started[-1]}")
  sysprof_start -p "$target" -F 999 -f --native -o "$dir/folded" || return
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
    "$4" -p $! -F 999 -f --native -o "$3/folded" 2> "$3/err"' \
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
