# What becomes of the file that a profile is written to.
# shellcheck shell=bash disable=SC2154,SC2034

# A profile that is there, and must stay.
lay() {
  rm -rf "$dir/o"
  mkdir "$dir/o"
  printf 'precious' > "$dir/o/p"
}

# It has stayed, and nothing is beside it.
untouched() {
  [ "$(cat "$dir/o/p")" = precious ] || fail "$1: the old profile is gone"
  [ "$(ls -A "$dir/o")" = p ] || fail "$1: left behind: $(ls -A "$dir/o")"
}

# A short program in Lua, sampled to $dir/o/p with more options.
short() {
  sysprof -F 999 "$@" -o "$dir/o/p" -- "$luajit" -e \
    'local stop = os.clock() + 0.3 while os.clock() < stop do end'
}

# Runs that fail, or take no sample of a LuaJIT.
case_nothing() {
  local folded
  for folded in '' -f; do
    lay
    sysprof $folded -e cycles -d 1 -a -o "$dir/o/p"
    # Where a machine counts cycles, there may be a LuaJIT to sample.
    [ "$status" -eq 0 ] || untouched "$folded -e cycles"
    lay
    sysprof $folded -F 4999 -o "$dir/o/p" -- ls /
    [ "$status" -eq 2 ] || fail "ls: status $status: $(cat "$dir/err")"
    untouched "$folded -- ls"
    sysprof $folded -F 4999 -o "$dir/o/p" -- sh -c 'exit 3'
    [ "$status" -eq 3 ] || fail "exit 3: status $status: $(cat "$dir/err")"
    untouched "$folded -- sh"
    sysprof $folded -F 4999 --any -o "$dir/o/p" -- "$dir/missing"
    refused 2 'missing: No such file or directory'
    untouched "$folded -- missing"
  done
  sleep 60 &
  target=$!
  started+=("$target")
  sysprof --any -d 0.5 -p "$target" -o "$dir/o/p"
  [ "$status" -eq 0 ] || fail "idle: status $status: $(cat "$dir/err")"
  untouched idle
  grep -q '/o/p was not written' "$dir/err" || fail "idle: $(cat "$dir/err")"
  mkfifo -m 755 "$dir/command"
  sysprof -o "$dir/o/p" -- "$dir/command" # Nobody writes to it.
  [ "$status" -eq 2 ] || fail "FIFO: status $status: $(cat "$dir/err")"
  untouched FIFO
}

# A run that succeeds keeps the profile before, once, and is for its user only.
case_replaced() {
  local folded
  for folded in '' -f; do
    lay
    chmod 644 "$dir/o/p"
    short $folded
    [ "$status" -eq 0 ] || fail "status $status: $(cat "$dir/err")"
    [ "$(cat "$dir/o/p.old")" = precious ] || fail "no p.old"
    [ "$(stat -c %a "$dir/o/p")" = 600 ] || fail "mode $(stat -c %a "$dir/o/p")"
    [ "$(echo "$dir/o"/*)" = "$dir/o/p $dir/o/p.old" ] || fail "$(ls -A "$dir/o")"
    cp "$dir/o/p" "$dir/before"
    short $folded
    cmp -s "$dir/before" "$dir/o/p.old" || fail "p.old is not the one before"
  done
  rm -rf "$dir/o"
  mkdir "$dir/o"
  (umask 277; short; exit "$status") || fail "umask: $(cat "$dir/err")"
  [ "$(stat -c %a "$dir/o/p")" = 400 ] || fail "umask: $(stat -c %a "$dir/o/p")"
  [ "$(ls -A "$dir/o")" = p ] || fail "beside a new file: $(ls -A "$dir/o")"
}

# A profile that cannot take its name stays, and the one before has it.
case_no_old() {
  lay
  mkdir "$dir/o/p.old"
  short
  refused 2 'o/p: Is a directory; the profile is in p.[0-9a-f]+.part beside it'
  [ "$(cat "$dir/o/p")" = precious ] || fail "the old profile is gone"
  "$build/bin/lj-parse-memprof" "$dir/o/p."*.part > "$dir/report" ||
    fail "no whole profile beside"
}

# Links are not followed; nor is written to what is no file.
case_links() {
  lay
  ln -s p "$dir/o/link"
  sysprof -o "$dir/o/link" -- true
  refused 2 'o/link: .*symbolic link'
  ln -s nowhere "$dir/o/dangling"
  sysprof -f --native -o "$dir/o/dangling" -- true
  refused 2 'o/dangling: .*symbolic link'
  [ ! -e "$dir/o/nowhere" ] || fail "a dangling link was followed"
  [ "$(cat "$dir/o/p")" = precious ] || fail "a link was followed"
  sysprof -o "$dir/o/" -- true
  refused 2 'o/: Is a directory'
  mkfifo "$dir/o/fifo"
  sysprof -o "$dir/o/fifo" -- true
  refused 2 'o/fifo: .*FIFO that nobody reads'
}

# What cannot be replaced is written in place.
case_in_place() {
  lay
  mkfifo "$dir/o/fifo"
  cat "$dir/o/fifo" > "$dir/o/p" &
  started+=("$!")
  sysprof -F 999 -f --native -o "$dir/o/fifo" -- "$luajit" "$here/programs/split.lua" 0.3
  [ "$status" -eq 0 ] || fail "a FIFO: status $status: $(cat "$dir/err")"
  wait "${started[-1]}"
  grep -q 'burn60@' "$dir/o/p" || fail "no profile through a FIFO"
  [ -p "$dir/o/fifo" ] || fail "the FIFO was replaced"
  sysprof -F 999 -o /dev/null -- "$luajit" "$here/programs/split.lua" 0.3
  [ "$status" -eq 0 ] || fail "/dev/null: status $status: $(cat "$dir/err")"
  [ -c /dev/null ] || fail "/dev/null was replaced"
  sysprof -F 999 -f --native -o >(cat > "$dir/o/p") -- "$luajit" "$here/programs/split.lua" 0.3
  [ "$status" -eq 0 ] || fail "a pipe: status $status: $(cat "$dir/err")"
  for _ in {1..600}; do
    ! grep -q 'burn60@' "$dir/o/p" || break
    sleep 0.1
  done
  grep -q 'burn60@' "$dir/o/p" || fail "no profile through a pipe"
}

# A reader that goes away, and a file that may not grow: one line, and 2. The
# target goes on.
case_cut_off() {
  lay
  mkfifo "$dir/o/fifo"
  head -c 10 "$dir/o/fifo" > "$dir/o/p" &
  started+=("$!")
  launch "$luajit" off gc 2 || return
  sysprof_start -q -p "$target" -F 999 -o "$dir/o/fifo" || return
  go
  sysprof_ended 2
  refused 2 'o/fifo: Broken pipe'
  target_well
  stop_all
  lay
  launch "$luajit" off gc 2 || return
  (ulimit -f 1; exec "$sysprof" -q -p "$target" -F 999 -o "$dir/o/p") \
    > "$dir/out" 2> "$dir/err" &
  profiler=$!
  started+=("$profiler")
  go
  sysprof_ended 2
  refused 2 'o/p: File too large'
  untouched 'not a block'
  target_well
}

# What was written before the disk was full can be read.
case_full() {
  lay
  mkdir "$dir/o/disk"
  launch "$luajit" off gc 60 || return
  # shellcheck disable=SC2016
  unshare --mount bash -c '
    mount -t tmpfs -o size=20k none "$1/o/disk" || exit 99
    echo precious > "$1/o/disk/p"
    "$2" -q -p "$3" -F 999 -o "$1/o/disk/p"
    status=$?
    cp "$1/o/disk/"* "$1/o"
    exit "$status"' x "$dir" "$sysprof" "$target" > "$dir/out" 2> "$dir/err" &
  profiler=$!
  started+=("$profiler")
  go
  for _ in {1..600}; do # However slow the machine is.
    kill -0 "$profiler" 2> /dev/null || break
    sleep 0.1
  done
  sysprof_ended 2
  refused 2 'o/disk/p: No space left on device'
  [ "$(cat "$dir/o/p.old")" = precious ] || fail "no p.old: $(ls "$dir/o")"
  "$build/bin/lj-parse-memprof" --format=folded "$dir/o/p" > "$dir/stacks" 2> "$dir/err"
  [ "$?" -eq 1 ] || fail "not read in part: $(cat "$dir/err")"
  grep -q 'gc.lua' "$dir/stacks" || fail "nothing to be read: $(cat "$dir/err")"
  kill -0 "$target" 2> /dev/null || fail "the target ended with it"
}

# A sampler that is killed leaves the old profile, or its own and the old one
# beside it.
case_killed() {
  lay
  launch "$luajit" off gc 3 || return
  sysprof_start -p "$target" -F 999 -o "$dir/o/p" || return
  go
  for _ in {1..600}; do
    [ ! -e "$dir/o/p.old" ] || break
    sleep 0.1
  done
  kill -KILL "$profiler"
  wait "$profiler" 2> /dev/null
  [ "$(cat "$dir/o/p.old")" = precious ] || fail "no p.old"
  "$build/bin/lj-parse-memprof" --format=folded "$dir/o/p" > "$dir/stacks" 2> "$dir/err"
  grep -q 'gc.lua' "$dir/stacks" || fail "nothing to be read: $(cat "$dir/err")"
  target_well
}

# A signal to the sampler is for the command; a second one ends it.
case_signals() {
  rm -f "$dir/first" "$dir/ready"
  # shellcheck disable=SC2016
  sysprof_start -f --native -o "$dir/folded" -- sh -c '
    trap "touch \"\$1\"" TERM
    touch "$2"
    while :; do "$0" -e "local x for i = 1, 1e6 do x = i end"; done' \
    "$luajit" "$dir/first" "$dir/ready" || return
  for _ in {1..600}; do
    [ ! -e "$dir/ready" ] || break
    sleep 0.1
  done
  kill -TERM "$profiler"
  for _ in {1..600}; do
    [ ! -e "$dir/first" ] || break
    sleep 0.1
  done
  [ -e "$dir/first" ] || fail "the first signal did not reach the command"
  kill -TERM "$profiler"
  sysprof_ended 137
}

# Folded stacks are of Lua lines; with --native of all frames.
case_lua_lines() {
  local native='^_start|[)]( |;)|_\[k\]|\[builtin\]'
  sysprof -F 999 -f -o "$dir/folded" -- "$luajit" "$here/programs/split.lua" 1
  grep -q 'main@.*split.lua:.*;burn60@.*split.lua:' "$dir/folded" ||
    fail "no stack of Lua lines: $(head "$dir/folded")"
  ! grep -E "$native" "$dir/folded" | grep -vE '^\([^()]*\) ' > "$dir/other" ||
    fail "not Lua lines: $(head "$dir/other")"
  sysprof -F 999 -f --native -o "$dir/folded" -- "$luajit" "$here/programs/split.lua" 1
  grep -qE '^_start .*;burn60@' "$dir/folded" ||
    fail "no native frames: $(head "$dir/folded")"
  sysprof --native -o "$dir/o/p" -- true
  [ "$status" -eq 64 ] || fail "--native without -f: status $status"
  grep -q -e '--native is for -f' "$dir/err" || fail "said: $(cat "$dir/err")"
}

# Parts of the time of Lua functions add up to it, and it to all samples. Tables
# that are made and dropped cost allocation and collection.
case_parts() {
  local csv native
  lay
  launch "$luajit" on gc 2 || return
  sysprof_start -p "$target" -F 999 -o "$dir/o/p" || return
  go
  target_well
  sysprof_ended 0
  csv=$("$build/bin/lj-parse-memprof" --min=0 --format=csv "$dir/o/p") ||
    fail "lj-parse-memprof: status $?"
  native=$("$build/bin/lj-parse-memprof" --native --format=folded "$dir/o/p" |
    awk '{ n += $NF } END { print n }')
  awk -F, -v all="$native" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
      sum = $at["interpreted"] + $at["compiled"] + $at["c"] + $at["alloc-gc"]
      sum += $at["jit"] + $at["kernel"] + $at["unnamed"]
      if (sum != $at["self"]) print "parts are " sum ": " $0
      n += $at["self"]
      if (/tables50/) tables += $at["alloc-gc"] * 2 > $at["self"]
    }
    END {
      if (n != all) print n " samples, not " all
      if (!tables) print "tables50 does not allocate and collect"
    }' <<< "$csv" > "$dir/wrong"
  [ ! -s "$dir/wrong" ] || fail "$(cat "$dir/wrong")"
}
