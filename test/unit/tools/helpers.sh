# What the scripts here have in common. They are run with a directory of
# recordings and with the program, perhaps in an emulator; they use $dir, and
# exit with $failed.
# shellcheck shell=bash disable=SC2034

fixtures=$1
prog=("${@:2}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# Says what failed.
wrong() {
  echo "FAILED: $*"
  failed=1
}

# Runs the program with the arguments behind $2. Its status must be $1, and its
# stderr as many lines as $2.
run() {
  local want=$1 lines=$2 status
  shift 2
  "${prog[@]}" "$@" > "$dir/out" 2> "$dir/err" < "${input:-/dev/null}"
  status=$?
  if [ "$status" -ne "$want" ] || [ "$(wc -l < "$dir/err")" -ne "$lines" ]; then
    echo "FAILED: $* (status $status, not $want; stderr:)"
    cat "$dir/err"
    failed=1
  fi
}

# The file $1 (out or err) of the last run must have a line that matches $2.
has() {
  if ! grep -qE -- "$2" "$dir/$1"; then
    echo "FAILED: nothing like '$2' in $1:"
    head -n 20 "$dir/$1"
    failed=1
  fi
}

# The output of the last run must be as the file $1.
same() {
  cmp -s "$dir/out" "$dir/$1" || wrong "not as $1: $2"
}

# The small CPU profile: a stack of nothing, met 7 times, at 99 Hz.
cpu_profile() {
  base64 -d << 'END'
bGpzEAAAAACAbGpwEAAAAGxqYhDennlOHQAAAAAAAAAAAAAAGAEABAUCaHp1YzQDAAAHQA
wJZGVsaXZlcmVkdQc=
END
}
