# Targets that make work for whoever samples them: the others are sampled as if
# they were not there.
# shellcheck shell=bash disable=SC2154,SC2034

# shellcheck source=SCRIPTDIR/enemies.sh
. "$e2e/enemies.sh"

# A program starts beside the hostile one, and is seen. Then $1 is said, if given.
beside() {
  local samples
  sysprof_start -a -F 999 -f -o "$dir/folded" || return
  "$luajit" -e 'local function innocent() local x = 0
    for i = 1, 1000 do x = x + i end return x end
    local stop = os.clock() + 5
    while os.clock() < stop do innocent() end' &
  innocent=$!
  started+=("$innocent")
  wait "$innocent" || fail "the innocent program was harmed"
  [ -z "${1-}" ] || awaited "$1" "$dir/err" 1200 || fail "not said: $1"
  bounded
  kill -INT "$profiler"
  sysprof_ended 0
  books_closed
  kill -0 "$enemy" || fail "the hostile program was harmed"
  samples=$(awk '/\(command line\)/ { n += $NF } END { print n + 0 }' "$dir/folded")
  printf '%s samples of 5 s\n' "$samples"
  # Who else starts meanwhile is looked at, too: on a loaded machine for more
  # than half a second.
  [ "$samples" -gt 4000 ] || missed "$samples samples of 5 s at 999 Hz"
}

# More files than there is room for, each of which looks like a LuaJIT: with as
# few descriptors as a shell allows.
case_modules() {
  hostile code 1200 || return
  ulimit -Sn 1024
  # On a busy machine it is their time that comes first.
  beside "process $enemy (hostile) has \\(more files than one process\\|files that take too\\)"
}

# The stream has what was refused, and reports show it.
case_refused() {
  hostile code 1200 || return
  sysprof --any -d 1 -p "$enemy" -o "$dir/cpu.ljp"
  [ "$status" -eq 0 ] || fail "status $status: $(cat "$dir/err")"
  "$build/bin/lj-parse-memprof" "$dir/cpu.ljp" > "$dir/report" || fail "no report"
  grep -q "^Not read: [0-9]* files of process $enemy" "$dir/report" ||
    fail "not in the report: $(head -n 6 "$dir/report")"
}

# Files that cost their owner nothing, and claim gigabytes.
case_sparse() {
  hostile sparse 8 || return
  beside
  sysprof_start --any -d 3 -p "$enemy" -o "$dir/cpu.ljp" || return
  sleep 1
  bounded
  sysprof_ended 0
  grep -q 'has a file that is too large' "$dir/err" || fail "not said: $(cat "$dir/err")"
}

# Code is mapped and unmapped all the time, of ever new files.
case_churn() {
  hostile churn 64 || return
  beside
}

# As many mappings as a process may have.
case_wide() {
  hostile wide 20000 || return
  beside
}

# Processes of which a page never comes, so that who reads it waits for ever.
case_holdup() {
  local i holders=()
  for ((i = 0; i < 12; i++)); do
    holdup || return
    holders+=(-p "$enemy")
  done
  sysprof -d 2 -f -o "$dir/folded" "${holders[@]}"
  [ "$status" -eq 0 ] || fail "-d is not honoured: status $status: $(cat "$dir/err")"
  grep -q 'holds up who reads its memory' "$dir/err" || fail "not said: $(cat "$dir/err")"
  for i in "${holders[@]}"; do
    [ "$i" = -p ] || [ "$i" = "$enemy" ] || kill -KILL "$i"
  done
  sysprof -d 1 -o "$dir/cpu.ljp" -p "$enemy"
  "$build/bin/lj-parse-memprof" "$dir/cpu.ljp" > "$dir/report" || fail "no report"
  grep -q '^Held up: 1 ' "$dir/report" || fail "not in the report: $(head -n 6 "$dir/report")"
  beside
}

# The ring buffer is full: what finds no room is dropped, and counted. It has
# room for a few stacks, and of this program every other one is new.
case_ring() {
  launch "$luajit" on gc 3 || return
  sysprof_start -p "$target" -F 4999 --ring=4096 -f --native -o "$dir/folded" || return
  go
  sleep 1
  kill -STOP "$profiler" # It reads nothing for a second.
  sleep 1
  kill -CONT "$profiler"
  target_well
  sysprof_ended 0
  books_closed
  [ "$(book dropped)" -gt 0 ] || fail "nothing was dropped: $(cat "$dir/err")"
  [ "$(book 'no room for a stack')" -gt 0 ] || fail "not by the ring: $(cat "$dir/err")"
  printf 'fired %s = delivered %s + dropped %s\n' "$(book samples)" "$(book delivered)" \
    "$(book dropped)"
}

# What is not needed to sample is given up, but not by the command. The mask is of
# CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SYS_PTRACE, CAP_SYSLOG, CAP_PERFMON, CAP_BPF,
# CAP_CHECKPOINT_RESTORE.
case_privileges() {
  local ours theirs mask=1c400080024
  cat > "$dir/status.lua" << 'END'
local f = io.open(arg[1], "w")
for line in io.lines("/proc/self/status") do f:write(line, "\n") end
f:close()
while true do os.clock() end
END
  sysprof_start -f --native -o "$dir/folded" -- "$luajit" "$dir/status.lua" "$dir/theirs" || return
  awaited NoNewPrivs "$dir/theirs" || fail "the command does not run"
  sleep 0.5
  ours=$(awk '/^Cap(Eff|Prm)|NoNewPrivs/ { printf "%s ", $2 }' "/proc/$profiler/status")
  [[ "$ours" =~ ^0*$mask" "0*$mask" 1 "$ ]] || fail "capabilities: $ours"
  for theirs in "/proc/$profiler/task/"*/status; do
    grep -q "^CapEff:.0*$mask\$" "$theirs" || fail "of $theirs: $(grep CapEff "$theirs")"
  done
  theirs=$(awk '/^Cap(Eff|Prm)|NoNewPrivs/ { printf "%s ", $2 }' "$dir/theirs")
  ours=$(awk '/^Cap(Eff|Prm)|NoNewPrivs/ { printf "%s ", $2 }' /proc/self/status)
  [ "$theirs" = "$ours" ] || fail "the command has $theirs, not $ours"
  kill -INT "$profiler"
  sysprof_ended 1 # luajit has a handler of its own.
  # Into a folder of somebody else.
  mkdir -p "$dir/theirs.d"
  chown nobody "$dir/theirs.d"
  chmod 700 "$dir/theirs.d"
  sysprof -F 999 -o "$dir/theirs.d/p" -- "$luajit" "$here/programs/split.lua" 0.3
  [ -s "$dir/theirs.d/p" ] || fail "not written: $(cat "$dir/err")"
}

# A capability that is missing is named: without it a process seems to run no
# LuaJIT, as its mappings can be read, but not its files.
case_capability() {
  local less=(setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace)
  launch "$luajit" on split 3 || return # It waits.
  status=0
  "${less[@]}" "$sysprof" -d 1 -o "$dir/cpu.ljp" -p "$target" 2> "$dir/err" || status=$?
  refused 2 'not yours to look at: .*CAP_SYS_PTRACE'
  "${less[@]}" "$sysprof" -d 0.1 -a -o "$dir/cpu.ljp" 2> "$dir/err"
  grep -q 'without CAP_SYS_PTRACE' "$dir/err" || fail "-a: $(cat "$dir/err")"
}

# More samples than there is time for: the machine does not stand still.
case_rate() {
  "$luajit" -e 'while true do end' &
  started+=($!)
  sleep 0.2
  sysprof -F 100000 -d 0.5 -f -o "$dir/folded" -p $!
  [ "$status" -eq 0 ] || fail "status $status: $(cat "$dir/err")"
  grep -q -- '-F 100000 leaves no time .*: it is 20000' "$dir/err" || fail "not said: $(cat "$dir/err")"
  books_closed
}

# Bytes that control a terminal, of either kind: none gets out of a name.
case_terminal() {
  local name=$'e\e[31m\x9bv\xc2\x9b\xc3\xa4'
  cat > "$dir/escape.lua" << 'END'
local burn = load("local stop = ... while os.clock() < stop do end", "@" .. arg[1])
burn(os.clock() + 0.5)
END
  cp "$luajit" "$dir/$name"
  sysprof -F 999 -f -o - -- "$dir/$name" "$dir/escape.lua" "$name"
  grep -q '@e.x1b\[31m.x9bv.xc2.x9bä:1' "$dir/out" || fail "not: $(cat -v "$dir/out")"
  sysprof -d 1 -o "$dir/$name/none" -- true
  [ "$status" -eq 2 ] || fail "status $status"
  printf junk > "$dir/junk$name"
  "$build/bin/lj-parse-memprof" "$dir/junk$name" 2>> "$dir/err" && fail "reads junk"
  [ -s "$dir/err" ] || fail "nothing on stderr"
  ! LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|(?<![\xc3])[\x80-\x9f]' "$dir/out" "$dir/err" ||
    fail "a control character: $(cat -v "$dir/out" "$dir/err")"
}

# A command that ignores the first signal is ended by the second.
case_stubborn() {
  sysprof_start -o "$dir/cpu.ljp" -- "$luajit" -e 'local ffi = require "ffi"
    ffi.cdef "void *signal(int, uintptr_t);"
    ffi.C.signal(2, 1) ffi.C.signal(15, 1)
    while true do end' || return
  sleep 1
  kill -INT "$profiler"
  sleep 2
  kill -0 "$profiler" 2> /dev/null || fail "did not wait for its command"
  kill -INT "$profiler"
  sysprof_ended 137
}

# A command that ends before it is sampled: the same is said each time.
case_brief() {
  local i
  for i in 1 2 3; do
    sysprof -F 1 -o "$dir/cpu.ljp" -- true
    refused 2 'ended before the first sample|no LuaJIT was seen'
  done
}

# A program that is deleted before it runs, and after -a has begun.
case_deleted() {
  sysprof_start -a -F 999 -f -o "$dir/folded" || return
  cp "$luajit" "$dir/deleted"
  (
    exec 8< "$dir/deleted"
    rm "$dir/deleted"
    exec /proc/self/fd/8 "$here/programs/split.lua" 0.5 > "$dir/out"
  ) || fail "the deleted program failed"
  kill -INT "$profiler"
  sysprof_ended 0
  grep -q 'burn60@' "$dir/folded" || fail "not seen: $(head -n 3 "$dir/folded")"
}

# A library that is overwritten in place is another one.
case_overwritten() {
  local i
  for i in 1 2; do
    printf 'int spin%d(void) { for (volatile long i = 0; i < 2000000000; i++); return 0; }\n' \
      "$i" > "$dir/spin.c"
    "${CC:-cc}" -shared -fPIC -O1 -o "$dir/spin$i.so" "$dir/spin.c" || return
  done
  cp "$dir/spin1.so" "$dir/spin.so"
  cat > "$dir/spin.lua" << 'END'
local ffi = require "ffi"
ffi.cdef "int spin1(void); int spin2(void);"
ffi.load(arg[1])["spin" .. arg[2]]()
END
  sysprof_start -a -F 999 -f --native -o "$dir/folded" || return
  "$luajit" "$dir/spin.lua" "$dir/spin.so" 1
  cat "$dir/spin2.so" > "$dir/spin.so"
  "$luajit" "$dir/spin.lua" "$dir/spin.so" 2
  kill -INT "$profiler"
  sysprof_ended 0
  for i in 1 2; do
    grep -q ";spin$i\b" "$dir/folded" || fail "no spin$i: $(head -n 3 "$dir/folded")"
  done
}
