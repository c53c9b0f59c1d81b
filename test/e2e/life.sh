# How a run begins and ends, and that targets do not notice.
# shellcheck shell=bash disable=SC2154,SC2034

case_whole() {
  profile "$luajit" on split 98 97
  profile "$luajit" off split 98 97
}

# The stream, and what lj-parse-memprof makes of it.
case_stream() {
  launch "$luajit" off split 2 || return
  (cd "$dir" && exec env --default-signal=INT "$sysprof" -p "$target" -F 999 \
    2> "$dir/err") &
  profiler=$!
  started+=("$profiler")
  await_profiler "$profiler" || fail "does not sample"
  go
  target_well
  sysprof_ended 0
  [ -s "$dir/cpu.ljp" ] || fail "no cpu.ljp"
  "$build/bin/lj-parse-memprof" "$dir/cpu.ljp" > "$dir/report" ||
    fail "lj-parse-memprof: status $?"
  grep -q 'burn60' "$dir/report" || fail "no function in: $(head "$dir/report")"
  "$build/bin/lj-parse-memprof" --format=folded "$dir/cpu.ljp" > "$dir/stacks" ||
    fail "lj-parse-memprof --format=folded: status $?"
  grep -q 'main.*burn60' "$dir/stacks" || fail "no stack: $(head "$dir/stacks")"
}

# -d: it ends, and the target goes on.
case_duration() {
  local before
  launch "$luajit" on split 4 || return
  sysprof_start -p "$target" -F 999 -d 1.5 -f --native -o "$dir/folded" || return
  go
  before=$SECONDS
  sysprof_ended 0
  [ $((SECONDS - before)) -le 15 ] || fail "-d 1.5 took $((SECONDS - before)) s"
  kill -0 "$target" 2> /dev/null || fail "the target ended with it"
  target_well
  grep -q 'burn60@.*split.lua:' "$dir/folded" || fail "no profile"
}

# The sampler is not woken for each new stack, at the target's cost: of this
# program every other one is new.
case_asleep() {
  local woken
  launch "$luajit" on gc 4 || return
  sysprof_start -p "$target" -F 999 -v -f --native -o "$dir/folded" || return
  go
  target_well
  sysprof_ended 0
  woken=$(sed -n 's/.*woken for \([0-9]*\) samples/\1/p' "$dir/err")
  [ "${woken:-0}" -gt 0 ] || fail "never woken: $(cat "$dir/err")"
  [ "$woken" -lt $(($(book samples) / 5)) ] ||
    fail "woken $woken times for $(book samples) samples"
}

# Nor for each trace that somebody compiles, sampled or not. Processes that others
# start wake it, too, with -a: on a busy machine more than one try may be needed,
# and each of them wakes it up to 8 times (5 to 7 were measured).
case_undisturbed() {
  local how try most
  for how in "-p $$ --any" -a; do
    for try in 1 2 3; do
      compile_beside || return
      most=$((traces / 10))
      [ "$how" != -a ] || most=$((most + 8 * begun))
      [ "$woken" -ge "$most" ] || break
      [ "$try" -lt 3 ] || fail "$how: woken $woken times, not less than $most:" \
        "$traces traces, $begun processes"
    done
  done
}

# Compiles traces beside a profiler with the options $how: sets their number, how
# often it was woken, and how many processes have begun meanwhile.
compile_beside() {
  rm -f "$dir/traces"
  # shellcheck disable=SC2086 # These are options.
  sysprof_start $how -F 99 -f -o "$dir/folded" || return
  woken=$(waits) begun=$(begun)
  "$luajit" "$e2e/programs/compile.lua" > "$dir/traces" || fail "status $?"
  traces=$(cat "$dir/traces") woken=$(($(waits) - woken)) begun=$(($(begun) - begun))
  [ "$traces" -ge 20000 ] || fail "$traces traces"
  kill -INT "$profiler"
  sysprof_ended 0
}

# How often the profiler has waited for something.
waits() {
  awk '/^voluntary_ctxt_switches/ { print $2 }' "/proc/$profiler/status"
}

# How many processes have begun since the machine was started.
begun() {
  awk '/^processes/ { print $2 }' /proc/stat
}

# A command that ends before its stacks would be looked for: what it did last
# has a name, too.
case_short() {
  sysprof -F 4999 -f --native -o "$dir/folded" -- "$luajit" -joff -e '
    local x, stop = 0, os.clock() + 0.1
    while os.clock() < stop do for i = 1, 1000 do x = x + i end end
    for _ = 1, 2000 do x = ("."):rep(100000) end'
  [ "$status" -eq 0 ] || fail "status $status: $(cat "$dir/err")"
  grep -q ';string\.rep' "$dir/folded" || fail "no string.rep: $(tail -n 3 "$dir/folded")"
}

# Ctrl-C, and what a service manager sends.
case_interrupt() {
  local signal
  for signal in INT TERM; do
    rm -f "$dir/folded"
    launch "$luajit" on split 3 || return
    sysprof_start -p "$target" -F 999 -f --native -o "$dir/folded" || return
    go
    await_cpu "$target" 1
    kill "-$signal" "$profiler"
    sysprof_ended 0
    books_closed
    grep -q 'burn60@.*split.lua:' "$dir/folded" || fail "no profile after $signal"
    target_well
  done
}

# A target that is killed ends the run; what was sampled is there.
case_killed() {
  launch "$luajit" on split 30 || return
  sysprof_start -p "$target" -F 999 -f --native -o "$dir/folded" || return
  go
  await_cpu "$target" 1
  kill -KILL "$target"
  sysprof_ended 0
  books_closed
  grep -q 'burn60@.*split.lua:' "$dir/folded" || fail "no profile"
}

# The profiler is killed: nothing is left behind, in the target or the kernel.
case_profiler_killed() {
  local programs id
  launch "$luajit" on split 2 || return
  sysprof_start -p "$target" -F 999 -f --native -o "$dir/folded" || return
  mapfile -t programs < <(sed -nE 's/^prog_id:[[:space:]]*//p' \
    "/proc/$profiler/fdinfo/"* | sort -u)
  [ ${#programs[@]} -gt 0 ] || fail "it has no BPF programs"
  kill -KILL "$profiler"
  go
  target_well
  sleep 1 # The kernel frees them when nothing can run them any more.
  for id in "${programs[@]}"; do
    ! bpftool prog show id "$id" > /dev/null 2>&1 || fail "program $id is left"
  done
}

# -- COMMAND: its own status, its own output, its own signals.
case_command() {
  sysprof -F 999 -f --native -o "$dir/folded" -- "$luajit" "$here/programs/split.lua" 1
  [ "$status" -eq 0 ] || fail "status $status: $(cat "$dir/err")"
  cp "$dir/out" "$dir/truth"
  grep -q '^truth cpu' "$dir/truth" || fail "the command's output is lost"
  extra_modules=("$luajit")
  judge 800 9 97 90 # Its beginning is seen, too.
  sysprof -f --native -o "$dir/folded" -- "$luajit" -e \
    'local x = os.clock() repeat until os.clock() > x + 0.3 os.exit(7)'
  [ "$status" -eq 7 ] || fail "status $status, not the command's 7"
  [ -s "$dir/folded" ] || fail "no profile of a command that fails"
  sysprof -f --native -o "$dir/folded" -- sh -c "nice; '$luajit' -e 'os.exit(3)'; exit 5"
  [ "$status" -eq 5 ] || fail "status $status, not the command's 5"
  [ "$(cat "$dir/out")" = "$(nice)" ] || fail "the command's nice value is $(cat "$dir/out")"
}

# All LuaJIT processes, and those that start later; others are left alone.
case_all() {
  profile_all -F 499
}

# A process that has worked for long before it loads a LuaJIT.
case_all_late() {
  local n
  cc -O1 -o "$dir/late_vm" "$e2e/programs/late_vm.c" -ldl || return
  sysprof_start -a -F 499 -f -o "$dir/folded" || return
  "$dir/late_vm" "$build/lib/libluajit-5.1.so.2" || fail "status $?"
  kill -INT "$profiler"
  sysprof_ended 0
  n=$(awk '/;late@/ { n += $NF } END { print n + 0 }' "$dir/folded")
  # Of 998, those of half a second at most are lost, and of a look at it.
  [ "$n" -ge 500 ] || fail "$n samples: $(cat "$dir/err")"
}

# Two at once do not disturb each other.
case_twice() {
  local other
  launch "$luajit" off split 3 || return
  sysprof_start -p "$target" -F 999 -f --native -o "$dir/other" || return
  other=$profiler
  sysprof_start -p "$target" -F 999 -f --native -o "$dir/folded" || return
  go
  target_well
  sysprof_ended 0
  extra_modules=("$luajit")
  judge 2000 6 98 97
  mv "$dir/other" "$dir/folded"
  profiler=$other
  sysprof_ended 0
  judge 2000 6 98 97
}

# All samples are due to the CPU time that is told, which is $1 seconds, though
# processes have ended since it was looked at.
cpu_is() {
  "$build/bin/lj-parse-memprof" "$dir/cpu.ljp" > "$dir/report"
  awk -v cpu="$1" '
    /^Samples: / { n = $2; for (i = 1; i < NF; i++) if ($i == "s") { s = $(i - 1); break } }
    /^Coverage: / { fired = $3 }
    END { exit !(n > 0 && n == fired && s > 0.95 * cpu - 0.02 && s < 1.05 * cpu + 0.02) }' \
    "$dir/report" || fail "not $1 s: $(head -n 2 "$dir/report")"
}

# A process that ends between two looks at its CPU time, and is waited for.
case_last_cpu() {
  launch "$luajit" off split 1.3 || return
  sysprof_start -p "$target" -F 999 -o "$dir/cpu.ljp" || return
  go
  target_well
  sysprof_ended 0
  cpu_is "$(awk '/^truth cpu / { print $3 }' "$dir/truth")"
}

# Children of a process that uses no time itself.
case_children_cpu() {
  cat > "$dir/child.lua" << 'END'
local stop, x = os.clock() + 0.25, 0
repeat for i = 1, 10000 do x = x + i end until os.clock() > stop
print("truth cpu " .. os.clock())
END
  cat > "$dir/parent.lua" << 'END'
io.read()
for _ = 1, 3 do os.execute(arg[1]) end
io.read()
END
  rm -f "$dir/truth" "$dir/go"
  mkfifo "$dir/go"
  "$luajit" "$dir/parent.lua" \
    "exec '$luajit' -joff '$dir/child.lua' >> '$dir/truth'" < "$dir/go" &
  target=$!
  started+=("$target")
  exec 9> "$dir/go"
  sysprof_start -p "$target" --children -F 999 -o "$dir/cpu.ljp" || return
  echo >&9
  for _ in {1..600}; do
    [ "$(grep -c truth "$dir/truth" 2> /dev/null)" != 3 ] || break
    sleep 0.1
  done
  echo >&9
  sysprof_ended 0
  cpu_is "$(awk '/^truth cpu / { s += $3 } END { print s }' "$dir/truth")"
}

# A parent and its workers, of which one works, as servers have them. The parent
# waits, and has no LuaJIT if $1 is given.
workers() {
  cat > "$dir/worker.lua" << 'END'
local function work() local x = 0 for i = 1, 1e5 do x = x + i end return x end
while arg[1] == "busy" do work() end
io.read()
END
  rm -f "$dir/go"
  mkfifo "$dir/go"
  exec 9<> "$dir/go"
  if [ -n "${1-}" ]; then
    sh -c '"$0" "$1" busy & "$0" "$1" idle; wait' \
      "$luajit" "$dir/worker.lua" < "$dir/go" &
  else
    "$luajit" -e 'os.execute(arg[1])' x \
      "'$luajit' '$dir/worker.lua' busy & '$luajit' '$dir/worker.lua' idle" \
      < "$dir/go" &
  fi
  target=$!
  started+=("$target")
  for _ in {1..600}; do
    mapfile -t workers < <(pgrep -f "$dir/worker.lua (busy|idle)\$" |
      grep -vx "$target")
    [ ${#workers[@]} -lt 2 ] || break
    sleep 0.1
  done
  started+=("${workers[@]}")
}

# Children that there are are told of, and sampled if that is asked for.
case_children() {
  local kind
  for kind in '' bare; do
    workers $kind
    sysprof -p "$target" -d 0.5 -f -o "$dir/folded"
    grep -q 'children run LuaJIT, [0-9]* and [0-9]*: --children samples them' \
      "$dir/err" || fail "$kind: said: $(cat "$dir/err")"
    [ -z "$kind" ] || [ "$status" -eq 2 ] || fail "status $status"
    sysprof -p "$target" --children -d 1 -f -o "$dir/folded"
    [ "$status" -eq 0 ] || fail "$kind: status $status: $(cat "$dir/err")"
    grep -q 'work@.*worker.lua:1' "$dir/folded" ||
      fail "$kind: no worker in: $(cat "$dir/folded")"
    ! grep -q 'children run' "$dir/err" || fail "said: $(cat "$dir/err")"
    stop_all
  done
}

# How processes begin and end is not cut: in execve and exit_mmap there are no
# frames in user space any more. Many short processes are mostly that.
case_begin_and_end() {
  local walk
  for walk in '' --tail-calls; do
    # shellcheck disable=SC2086,SC2016
    sysprof $walk -F 4999 -f --native -o "$dir/folded" -- sh -c \
      'i=0; while [ $i -lt 60 ]; do "$0" -e ""; i=$((i + 1)); done' "$luajit"
    [ "$status" -eq 0 ] || fail "status $status: $(cat "$dir/err")"
    books_closed
    ! grep -E '^\(.*;(__x64_sys_execve|exit_mmap)_' "$dir/folded" > "$dir/bad" ||
      fail "$walk: $(wc -l < "$dir/bad") cut: $(head -n 1 "$dir/bad")"
    grep -qE '^[^;(]*_\[k\];.*execve.*exit_mmap_' "$dir/folded" ||
      missed "$walk: no exec without a user stack"
    grep -qE '^[^;(]*_\[k\];.*do_exit_.*exit_mmap_' "$dir/folded" ||
      missed "$walk: no exit without a user stack"
  done
}

# A command that works for some seconds passes --strict, with all of its beginning
# and end.
case_strict() {
  sysprof --strict -F 999 -f --native -o "$dir/folded" -- "$luajit" "$here/programs/split.lua" 4
  [ "$status" -eq 0 ] || fail "status $status: $(cat "$dir/err")"
}
