# Programs that make work for whoever samples them, and what lj-sysprof may cost
# beside them.
# shellcheck shell=bash disable=SC2154,SC2034

# The text $1 comes in the file $2 within 20 seconds, or $3 tenths of one.
awaited() {
  local n
  for ((n = 0; n < ${3-200}; n++)); do
    ! grep -qs "$1" "$2" || return 0
    sleep 0.1
  done
  return 1
}

# Starts the hostile program: "hostile HOW N".
hostile() {
  [ -x "$dir/hostile" ] ||
    "${CC:-cc}" -O2 -Wall -Wextra -Werror -o "$dir/hostile" -pthread "$e2e/programs/hostile.c" || return
  mkdir -p "$dir/files/$1"
  "$dir/hostile" "$1" "$2" "$dir/files/$1" > "$dir/hostile.out" &
  enemy=$!
  started+=("$enemy")
  awaited ready "$dir/hostile.out" && return 0
  fail "the hostile program is not ready"
  return 1
}

# What of lj-sysprof is bounded: memory in MiB, descriptors but for the one of
# each process.
memory() {
  awk '$1 == "VmHWM:" { print int($2 / 1024) }' "/proc/$profiler/status"
}
files() {
  find "/proc/$profiler/fd" -type l -printf '%l\n' | grep -vc pidfd
}

# Memory and descriptors of lj-sysprof are few.
bounded() {
  local m f
  m=$(memory) f=$(files)
  printf 'memory %s MiB, %s descriptors\n' "$m" "$f"
  [ "$m" -lt 256 ] || fail "$m MiB of memory"
  [ "$f" -lt 128 ] || fail "$f descriptors"
}

# Starts a program whose memory holds up who reads it.
holdup() {
  nice "$luajit" "$e2e/programs/holdup.lua" > "$dir/hostile.out" 2> "$dir/err" &
  enemy=$!
  started+=("$enemy")
  awaited ready "$dir/hostile.out" && return 0
  fail "no page is held up: $(cat "$dir/err")"
  return 1
}
