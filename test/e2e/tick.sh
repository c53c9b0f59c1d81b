# Samples at the kernel's own tick.
# shellcheck shell=bash disable=SC2154,SC2034

# The interrupt that takes the sample is not a part of the stack: not the
# timers, which nothing samples while they run, nor its entry as a leaf.
no_interrupt() {
  ! grep -E 'hrtimer_interrupt|hrtimer_run_queues|tick_nohz_handler' \
    "$dir/folded" > "$dir/bad" || fail "a timer: $(head -n 1 "$dir/bad")"
  ! grep -E '(apic_timer_interrupt|hrtimer[^;]*)_\[k\] [0-9]+$' \
    "$dir/folded" > "$dir/bad" || fail "the interrupt: $(head -n 1 "$dir/bad")"
}

# $1 samples a second of the CPU time that the target tells, and of that which
# lj-sysprof read, but for time that a hypervisor took. Not judged where the
# target had to wait for a CPU: tasks are switched at ticks, so ticks are no fair
# sample of a task that shares its CPU.
rate_is() {
  local coverage
  coverage=$(sed -nE 's/.*coverage ([0-9.]+)% of.*/\1/p' "$dir/err")
  awk -v n="$(book samples)" -v hz="$1" -v coverage="${coverage:-0}" '
    /^truth cpu / { cpu = $3 }
    /^truth wall / { wall = $3 }
    END {
      if (wall > 1.03 * cpu)
        exit 2
      print n / cpu
      exit n < 0.94 * hz * cpu || n > 1.06 * hz * cpu || coverage < 94 || coverage > 106
    }' "$dir/truth" > "$dir/rate"
  case $? in
    0) ;;
    2) echo "the rate is not judged: the target shared its CPU" ;;
    *) missed "$(cat "$dir/rate") samples a second, not $1: $(cat "$dir/err")" ;;
  esac
}

# Ticks a second as the kernel's configuration has them; or nothing.
configured() {
  { zcat /proc/config.gz || cat "/boot/config-$(uname -r)"; } 2> /dev/null |
    sed -n 's/^CONFIG_HZ=//p'
}

# "tick_profile HZ LEAST ERROR [OPTION...]": of the 60/30/10 program, at least
# so many samples and at most so many points of error. The target comes before
# all others, as it must not share its CPU.
tick_profile() {
  local hz=$1 least=$2 error=$3
  shift 3
  launch "$luajit" on split 6 || return
  renice -n -20 -p "$target" > "$dir/renice" 2>&1 || cat "$dir/renice"
  extra_modules=("$luajit")
  sysprof_start -p "$target" -e tick -F "$hz" -f --native -o "$dir/folded" "$@" || return
  go
  target_well
  sysprof_ended 0
  books_closed
  judge "$least" "$error" 98 97
  no_interrupt
  stop_all
}

# Fewer samples than ticks, by both ways of walking.
case_slow() {
  tick_profile 99 500 8 --strict=2
  rate_is 99
  tick_profile 99 500 8 --strict=2 --tail-calls
  rate_is 99
  ! grep -q "kernel's tick" "$dir/err" || fail "said: $(cat "$dir/err")"
}

# More samples than ticks: all ticks, which is said.
case_fast() {
  local walk ticks want
  want=$(configured)
  for walk in --strict=2 --tail-calls; do
    tick_profile 100000 550 8 "$walk"
    ticks=$(sed -nE "s/.*kernel's tick is ([0-9]+) a second.*/\1/p" "$dir/err")
    [ -n "$ticks" ] || fail "no word of ticks: $(cat "$dir/err")"
    [ "${ticks:-0}" = "${want:-$ticks}" ] || fail "$ticks ticks, not $want"
    rate_is "${ticks:-0}"
  done
}

# The stream has the rate that was true, and what it is of.
case_stream() {
  local ticks
  sysprof -e tick -F 100000 -o "$dir/cpu.ljp" -- "$luajit" "$here/programs/split.lua" 1
  [ "$status" -eq 0 ] || fail "status $status: $(cat "$dir/err")"
  ticks=$(sed -nE "s/.*kernel's tick is ([0-9]+) a second.*/\1/p" "$dir/err")
  "$build/bin/lj-parse-memprof" "$dir/cpu.ljp" > "$dir/report" ||
    fail "lj-parse-memprof: status $?"
  grep -qE "^Samples: [0-9]+ of tick at $ticks Hz, [01]\.[0-9]+ s" "$dir/report" ||
    fail "not $ticks Hz of tick: $(head -n 1 "$dir/report")"
  sysprof -e tick -f --native -o "$dir/folded" -- "$luajit" -e 'os.exit(7)'
  [ "$status" -eq 7 ] || fail "status $status, not the command's 7"
}

# Samples of $dir/folded that match $1, in percent.
share() {
  awk -v what="$1" '
    { all += $NF; if ($0 ~ what) n += $NF }
    END { printf "%d\n", all ? 100 * n / all : 0 }' "$dir/folded"
}

# What hits the kernel has the kernel's frames, from where the tick hit.
case_kernel() {
  local walk read='entry_SYSCALL_64[^;]*;do_syscall_64.*vfs_read[^;]*;[^ ]*read[^ ]*zero'
  for walk in --strict=2 --tail-calls; do
    sysprof -e tick -F 250 "$walk" -f --native -o "$dir/folded" -- "$luajit" "$e2e/programs/zero.lua" 3
    [ "$status" -eq 0 ] || fail "status $status: $(cat "$dir/err")"
    books_closed
    no_interrupt
    [ "$(share "fill@.*;$read")" -gt 50 ] ||
      fail "no reads: $(sort -t ' ' -k 2 "$dir/folded" | tail -n 3)"
  done
  sysprof -e tick -U -f --native -o "$dir/folded" -- "$luajit" "$e2e/programs/zero.lua" 1
  [ "$(share '_\\[k\\]')" -eq 0 ] || fail "-U has kernel frames"
  [ "$(share 'fill@')" -gt 50 ] || fail "-U has no Lua"
  sysprof -e tick -K -f --native -o "$dir/folded" -- "$luajit" "$e2e/programs/zero.lua" 1
  [ "$(share "^$read")" -gt 50 ] || fail "-K has no reads"
  [ "$(share 'fill@')" -eq 0 ] || fail "-K has Lua"
}

# All LuaJIT processes, and those that start later.
case_all() {
  profile_all -e tick -F 250
}

# Kernels that do not tell what is needed: their BTF has other names in it.
case_refused() {
  local name
  for name in tick_cpu_sched hrtimer_bases __irq_regs btf_trace_hrtimer_expire_entry; do
    sed "s/\x00$name\x00/\x00${name/_/-}\x00/" /sys/kernel/btf/vmlinux > "$dir/btf"
    status=0
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount --bind "$1" /sys/kernel/btf/vmlinux; exec "$2" \
      -e tick -f -- true' sh "$dir/btf" "$sysprof" \
      > "$dir/out" 2> "$dir/err" < /dev/null || status=$?
    refused 2 "this kernel has no ${name#btf_trace_}: leave out -e tick"
  done
}
