# What all cases share: see run.
# shellcheck shell=bash disable=SC2154,SC2034

# shellcheck source=SCRIPTDIR/../obtain.sh
. "$(dirname "${BASH_SOURCE[0]}")/../obtain.sh"

started=() # Processes to end, whatever happens.
now=

fail() {
  printf 'FAILED: %s: %s\n' "$now" "$*"
  failed=1
}

# A figure that is of chance was not reached.
missed() {
  printf 'MISSED: %s: %s\n' "$now" "$*"
  missed=1
}

# Ends what a case started, and its children. Parents first: they may start
# another child for one that ends.
stop_all() {
  local process children
  exec 9>&-
  for process in "${started[@]}"; do
    mapfile -t children < <(pgrep -P "$process")
    kill -KILL "$process" "${children[@]}" 2> /dev/null || :
    wait "$process" 2> /dev/null || :
  done
  started=()
}

cleanup() {
  stop_all
  rm -rf "$dir"
}

# A case that cannot run here.
skip() {
  printf 'skipped: %s: %s\n' "$now" "$*"
  if [ "${LJPROF_E2E:-}" = required ]; then
    failed=1
  fi
  skipped=1
}

# -- lj-sysprof ----------------------------------------------------------------

# Skips what follows if the kernel does not permit BPF: only then.
need_bpf() {
  local said
  if [ "$(id -u)" -ne 0 ]; then
    echo "skipped: BPF is for root, and this is $(id -un)"
    skipped=1
    return 1
  fi
  # A map of one number is the least that needs BPF.
  said=$(bpftool map create /sys/fs/bpf/lj-e2e-$$ type array key 4 value 4 \
    entries 1 name lj_e2e 2>&1)
  rm -f /sys/fs/bpf/lj-e2e-$$
  case $said in
    *"not permitted"*)
      echo "skipped: $said"
      skipped=1
      return 1
      ;;
  esac
}

# Runs lj-sysprof to its end, at most 200 seconds. What it says is in $dir/out
# and $dir/err, its exit status in `status`. A shell's own background jobs
# ignore Ctrl-C, users' do not.
sysprof() {
  status=0
  env --default-signal=INT timeout -k 5 200 "$sysprof" "$@" \
    > "$dir/out" 2> "$dir/err" < /dev/null || status=$?
}

# The same in the background. Sets `profiler`. Fails if it does not sample.
sysprof_start() {
  env --default-signal=INT "$sysprof" "$@" > "$dir/out" 2> "$dir/err" \
    < /dev/null &
  profiler=$!
  started+=("$profiler")
  await_profiler "$profiler" || {
    fail "does not sample: $*: $(tail -n 1 "$dir/err")"
    return 1
  }
}

# It must have ended by itself with the status $1, in 100 seconds.
sysprof_ended() {
  local i
  for ((i = 0; i < 1000; i++)); do
    kill -0 "$profiler" 2> /dev/null || break
    sleep 0.1
  done
  kill -0 "$profiler" 2> /dev/null && fail "did not end in 100 seconds"
  kill -KILL "$profiler" 2> /dev/null
  status=0
  wait "$profiler" || status=$?
  [ "$status" -eq "$1" ] || fail "status $status, not $1: $(cat "$dir/err")"
}

# The last run must have ended with status $1, and one line on stderr that
# matches $2.
refused() {
  [ "$status" -eq "$1" ] || fail "status $status, not $1: $(cat "$dir/err")"
  [ "$(wc -l < "$dir/err")" -eq 1 ] || fail "not one line: $(cat "$dir/err")"
  grep -qiE -- "$2" "$dir/err" || fail "not like '$2': $(cat "$dir/err")"
}

# -- Targets and profiles ------------------------------------------------------

# Starts a program of the benchmark: as start_target, and it is ended in time.
launch() {
  start_target "$@" || {
    fail "$3 does not run: $(tail -n 1 "$dir/target.err")"
    return 1
  }
  started+=("$target")
}

# The target must have ended as if nobody had looked.
target_well() {
  finish "$target"
  [ "$status" -eq 0 ] || fail "the target ended with status $status"
  [ ! -s "$dir/target.err" ] || fail "target: $(cat "$dir/target.err")"
  grep -q '^truth cpu' "$dir/truth" || fail "the target did not finish"
}

# CPU time that a process has used, in seconds.
cpu_of() {
  sed 's/.*) //' "/proc/$1/stat" |
    awk -v hz="$(getconf CLK_TCK)" '{ print ($12 + $13) / hz }'
}

# Whether a process that had used $2 seconds has used $3 more.
has_used() {
  awk -v now="$(cpu_of "$1")" -v before="$2" -v more="$3" \
    'BEGIN { exit now < before + more }'
}

# Waits until a process has used $2 seconds more, at most 200 seconds: what is
# sampled does not depend on how many others want the CPU.
await_cpu() {
  local before i
  before=$(cpu_of "$1")
  for ((i = 0; i < 2000; i++)); do
    ! has_used "$1" "$before" "$2" || return 0
    sleep 0.1
  done
  fail "process $1 did not work: $(cat "/proc/$1/stat")"
}

# A number that the summary gives before a word: "10 dropped".
book() {
  sed -nE "s/(.*[^0-9])?([0-9]+) $1\b.*/\2/p" "$dir/err" | head -n 1
}

# Fired = delivered + dropped, exactly.
books_closed() {
  local fired delivered dropped
  fired=$(book samples) delivered=$(book delivered) dropped=$(book dropped)
  if [ -z "$fired" ] || [ -z "$delivered" ] || [ -z "$dropped" ]; then
    fail "no books: $(cat "$dir/err")"
  elif [ "$fired" -ne $((delivered + dropped)) ] || [ "$fired" -eq 0 ]; then
    fail "fired $fired, delivered $delivered, dropped $dropped"
  fi
}

# A figure of the last score.
figure() {
  awk -v key="$1" '$1 == key { print $2 }' "$dir/score"
}

# Scores $dir/folded: at least $1 samples, at most $2 points of error by
# function, $3 percent of stacks to the root, $4 with the right frames. Short
# runs say less exactly what the benchmark says: 3 sigma of 2,000 samples is 3.3
# points at 50%.
judge() {
  local files
  mapfile -t files < <({ cat "/proc/$$/maps"; echo "x /$dir/host"; } |
    grep -oE '/[^ ]+' | sort -u)
  { outermost "${files[@]}"; outermost "${extra_modules[@]}"; } > "$dir/roots"
  if ! "$luajit" "$here/score.lua" -v "${score_options[@]}" -r "$dir/roots" \
    "$dir/truth" "$dir/folded" > "$dir/score"; then
    fail "there is nothing to score"
    return
  fi
  awk -v n="$1" -v e="$2" '
    $1 == "samples" && $2 < n { bad = 1 }
    $1 == "function_error" && $2 != "-" && $2 > e { bad = 1 }
    END { exit bad }' "$dir/score" || {
    missed "not $1 samples, error $2:"
    cat "$dir/score" "$dir/err"
  }
  awk -v c="$3" -v f="$4" '
    $1 == "complete" && ($2 == "-" || $2 < c) { bad = 1 }
    $1 == "chain" && ($2 == "-" || $2 < f) { bad = 1 }
    $1 == "function_error" && $2 == "-" { bad = 1 }
    END { exit bad }' "$dir/score" || {
    fail "not complete $3, frames $4:"
    cat "$dir/score" "$dir/err"
  }
}
extra_modules=() # ELF files, for outermost functions.
score_options=()

# Profiles a program of the benchmark for $work seconds of its CPU time (1.5), and
# checks it: "profile BINARY JIT PROGRAM COMPLETE FRAMES [OPTION...]".
profile() {
  local binary=$1 jit=$2 program=$3 complete=$4 frames=$5
  shift 5
  launch "$binary" "$jit" "$program" "${work:-1.5}" || return
  extra_modules=("$binary")
  [ ! -d "$binary" ] || extra_modules=("$dir/host")
  sysprof_start -p "$target" -F 1999 -f --native -o "$dir/folded" "$@" || return
  go
  target_well
  sysprof_ended 0
  books_closed
  judge 2000 6 "$complete" "$frames"
}

# Profiles all processes, one that works already and one that starts later:
# "profile_all OPTION...".
profile_all() {
  local later
  launch "$luajit" on split 2 || return
  sysprof_start -a "$@" -f --native -o "$dir/folded" || return
  go
  "$luajit" "$here/programs/pcalls.lua" 1 > "$dir/later" &
  later=$!
  started+=("$later")
  target_well
  wait "$later"
  kill -INT "$profiler"
  sysprof_ended 0
  books_closed
  grep -q 'burn60@.*split.lua:' "$dir/folded" || fail "not the one that ran"
  grep -q 'safe50@.*pcalls.lua:' "$dir/folded" || fail "not the one that started"
}

# -- Programs of Debian --------------------------------------------------------

# Unpacks Debian packages, which are not installed, once into $build/stock; says
# so by its status if they cannot be had.
stock() {
  local package
  for package; do
    have "$package" > "$dir/missing" || {
      skip "$(sed 's/^skipped: //' "$dir/missing")"
      return 1
    }
    unpack_package "$package" "$build/stock/$package" || return 1
  done
}

# The folders with shared libraries of unpacked packages, as LD_LIBRARY_PATH has
# them.
stock_libraries() {
  local package path=''
  for package; do
    path=$path:$build/stock/$package/usr/lib/x86_64-linux-gnu
    path=$path:$build/stock/$package/lib/x86_64-linux-gnu
  done
  echo "${path#:}"
}
