# What all programs share: see run.
# shellcheck shell=bash disable=SC2154,SC2034

work_seconds=10 # Of CPU time: 4 sigma are 2 points then, of a share of 60%.
port=$((20000 + $$ % 10000))
# For lj-sysprof; 0.5% of the stacks may be cut or dropped then.
strict=(--strict -F 999 -o "$dir/cpu.ljp")
export LUA_CPATH="$build/lib/lua/5.1/?.so;;"

# Prints package $1, Debian's LuaJIT, and of what $1 depends on those packages
# that are not installed.
with_dependencies() {
  printf '%s\n' "$1" libluajit-5.1-2
  { apt-get -s --no-install-recommends install "$1" 2> /dev/null || :; } |
    awk -v name="$1" '
      $1 == "Inst" && $2 != name && $2 !~ /^libluajit/ { print $2 }'
}

# Makes a new network namespace's loopback interface one to be used, as
# `ip link set lo up` does, which may not be installed.
loopback_up() {
  python3 -c '
import fcntl, socket, struct
SIOCSIFFLAGS, UP, LOOPBACK, RUNNING = 0x8914, 1, 8, 0x40
with socket.socket() as s:
    fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", UP | LOOPBACK | RUNNING))'
}

# Waits until a server listens.
await_port() {
  for _ in {1..600}; do
    ! (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null || return 0
    sleep 0.1
  done
  fail "nothing listens: $(tail -n 5 "$dir/target.err")"
  return 1
}

# Waits until these VMs have done their work.
await_work() {
  local vm i
  for ((i = 0; i < 1200; i++)); do
    for vm; do
      [ -e "$dir/$vm.truth" ] || {
        kill -0 "$profiler" 2> /dev/null || break 2 # Its target ended.
        sleep 0.1
        continue 2
      }
    done
    return 0
  done
  fail "has not done its work"
  return 1
}

# Runs lj-parse-memprof, which must end with status $1 and say nothing unless
# that is not 0.
reported() {
  local status=0 want=$1
  shift
  "$build/bin/lj-parse-memprof" "$@" > "$dir/report" 2> "$dir/warning" || status=$?
  [ "$status" -eq "$want" ] || fail "lj-parse-memprof $*: status $status, not $want"
  [ "$want" -ne 0 ] || [ ! -s "$dir/warning" ] || fail "lj-parse-memprof $*: $(cat "$dir/warning")"
}

# What is live in the recordings must be what the VMs counted, to the byte, and
# what modules in C have taken from the VMs' allocators besides. Sets `outside`
# to the bytes of the latter.
judge_heap() {
  local heap
  heap=$(awk '$1 == "heap" { sum += $2 } END { printf "%.0f", sum }' "${truths[@]}")
  reported 0 --view=types "${memory[@]}"
  outside=$(awk '/^\(outside of/ { print $NF }' "$dir/report")
  heap=$((heap + ${outside:=0}))
  reported 0 -l "${memory[@]}"
  awk -v heap="$heap" '
    /^OUTSIDE/ { exit }
    / holds [0-9]+ bytes: / { sub(/.* holds /, ""); sum += $1 }
    END { exit sum != heap }' "$dir/report" ||
    fail "not $heap bytes, of which $outside outside: $(cat "$dir/report")"
  reported 0 --limit="live<=$heap" "${memory[@]}"
  reported 3 --limit="live<=$((heap - 1))" "${memory[@]}"
}

# The recordings of these VMs and of the CPU must be whole, and be right.
judge() {
  local complete memory truths vm
  outside=0
  memory=("${@/#/$dir/}")
  truths=("${memory[@]/%/.truth}")
  memory=("${memory[@]/%/.ljm}")
  cat "$dir/err"
  for vm in "${truths[@]}"; do
    [ -e "$vm" ] || {
      fail "no $vm"
      return
    }
  done
  books_closed
  complete=$(sed -nE 's/.* ([0-9.]+)% complete to the root.*/\1/p' "$dir/err")
  awk -v c="${complete:-0}" 'BEGIN { exit !(c >= 99) }' ||
    fail "$complete% of the stacks are complete"
  for vm in "${memory[@]}"; do
    reported 0 "$vm"
    ! grep -q approximate: "$dir/report" || fail "$vm: $(grep approximate: "$dir/report")"
    reported 0 --limit='live<=1GiB' "$vm"
  done
  ! grep -q '^heap' "${truths[@]}" || judge_heap
  reported 0 --view=functions --min=0 --format=csv "${memory[@]}" "$dir/cpu.ljp"
  "$luajit" "$real/judge.lua" "$dir/report" "${truths[@]}" || fail "not what is true"
}
