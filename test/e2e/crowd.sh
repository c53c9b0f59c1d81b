# All targets that make work at the same time, and one that does not.
# shellcheck shell=bash disable=SC2154,SC2034
# shellcheck source=SCRIPTDIR/enemies.sh
. "$e2e/enemies.sh"

# Starts them all, nice: the other one gets most of the CPU that there is. Their
# numbers are in `enemies`.
crowd() {
  local how
  enemies=()
  for how in code:1200 sparse:8 churn:64 wide:20000 threads:2000 spawn:100; do
    hostile "${how%:*}" "${how#*:}" || return
    enemies+=("$enemy")
  done
  for how in 1 2 3 4; do
    holdup || return
    enemies+=("$enemy")
  done
  "$luajit" "$e2e/programs/crowd.lua" 500 > "$dir/hostile.out" &
  enemy=$!
  started+=("$enemy")
  awaited ready "$dir/hostile.out" || fail "no VMs"
  enemies+=("$enemy")
  renice -n 10 -p "${enemies[@]}" > /dev/null
}

# CPU time of process $1 in milliseconds, with children that it has waited for.
cpu_ms() {
  local fields
  fields=$(sed 's/.*) //' "/proc/$1/stat") || return
  # shellcheck disable=SC2086
  set -- $fields
  echo $(((${12} + ${13} + ${14} + ${15}) * 10))
}

# CPU time of a process in microseconds, as the scheduler has it.
cpu_us() {
  awk '{ printf "%d", $1 / 1000 }' "/proc/$1/schedstat"
}

# What lj-sysprof needs now, $1 seconds after its start.
figures() {
  printf '%4s s: memory %3s MiB, %s descriptors\n' "$1" "$(resident)" "$(files)"
}

# Memory of lj-sysprof at this moment, in MiB.
resident() {
  awk '$1 == "VmRSS:" { print int($2 / 1024) }' "/proc/$profiler/status"
}

# Starts lj-sysprof and waits for its clocks. It is not nice: what else runs on this machine is none of its crowd.
begin() {
  local n
  nice -n -10 "$sysprof" -a -F 499 -f -o "$dir/folded" "$@" 2> "$dir/err" &
  profiler=$!
  started+=("$profiler")
  for ((n = 0; n < 600; n++)); do
    [ "$(find "/proc/$profiler/fd" -lname '*perf_event*' 2> /dev/null | wc -l)" -lt \
      "$(nproc)" ] || return 0
    sleep 0.05
  done
  fail "does not sample: $(cat "$dir/err")"
  return 1
}

# -d ends it, however much there is to be read.
ends_in_time() {
  local began over
  begin -d 2 || return
  began=${EPOCHREALTIME/./}
  sysprof_ended 0
  over=$(((${EPOCHREALTIME/./} - began) / 1000 - 2000))
  printf -- '-d 2: %s ms late\n' "$over"
  [ "$over" -lt 1000 ] || fail "-d 2 took $over ms more"
}

# Samples of the innocent program for SECONDS in the crowd, relative to its CPU
# time, and what lj-sysprof needs meanwhile.
in_crowd() {
  local seconds=$1 i before after cost reader samples=0 share first=0 last
  cat > "$dir/innocent.lua" << 'END'
local function innocent() local x = 0 for i = 1, 1000 do x = x + i end return x end
while true do innocent() end
END
  nice -n -10 "$luajit" "$dir/innocent.lua" &
  innocent=$!
  started+=("$innocent")
  begin || return
  reader=$(pgrep -P "$profiler")
  cost=$(($(cpu_ms "$profiler") + $(cpu_ms "$reader")))
  before=$(cpu_us "$innocent")
  for ((i = 1; i <= 10; i++)); do
    sleep "${seconds}e-1"
    figures "$((seconds * i / 10))"
    [ "$i" -ne 3 ] || first=$(resident)
  done
  bounded
  last=$(resident)
  [ "$last" -lt $((first * 5 / 4 + 16)) ] || fail "memory grows: $first MiB, then $last"
  cost=$(($(cpu_ms "$profiler") + $(cpu_ms "$reader") - cost))
  after=$(cpu_us "$innocent")
  kill -INT "$profiler"
  sysprof_ended 0
  books_closed
  samples=$(awk -v at="$dir/innocent.lua" 'index($0, at) { n += $NF } END { print n + 0 }' "$dir/folded")
  share=$((samples * 100000 / ((after - before) * 499 / 10000)))
  printf 'innocent program: %s samples in %s ms of CPU time, %s.%s%%\n' "$samples" \
    $(((after - before) / 1000)) $((share / 10)) $((share % 10))
  printf 'lj-sysprof: %s ms of CPU time in %s s\n' "$cost" "$seconds"
  [ "$share" -gt 950 ] || fail "$samples samples"
}

# In 5 seconds; LJPROF_CROWD_SECONDS says another number.
case_crowd() {
  local process
  crowd || return
  ends_in_time || return
  in_crowd "${LJPROF_CROWD_SECONDS:-5}" || return
  for process in "${enemies[@]}" "$innocent"; do
    kill -0 "$process" 2> /dev/null || fail "a program was harmed"
  done
  grep -o 'process [0-9]* (.*' "$dir/err" | sed 's/process [0-9]* //' | sort | uniq -c
}
