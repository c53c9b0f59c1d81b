# Turns of a program with and without something, for ratios: see truth.turns in
# programs/truth.lua. Needs common.sh, and `seconds` of a turn.
# shellcheck shell=bash disable=SC2154,SC2034

# shellcheck source=SCRIPTDIR/../ratio.sh
. "$here/../ratio.sh"

# Lets the program work once; sets `took` to wall and CPU time of a spell. What
# is given goes to the program, too.
turn() {
  local before line alive=1
  before=$(grep -c '^truth turn' "$dir/truth" || :)
  echo "$seconds${1:+ $1}" >&9
  until [ "$(grep -c '^truth turn' "$dir/truth" || :)" -gt "$before" ]; do
    [ -n "$alive" ] || { echo "the program ended early" >&2; return 1; }
    kill -0 "$target" 2> /dev/null || alive='' # It may have told before.
    sleep 0.05
  done
  line=$(tail -n 1 "$dir/truth")
  took=${line#truth turn }
}

# Starts the program for turns.
start_turns() {
  TRUTH_TURNS=1 start_target "$luajit" "$jit" "$1" 0
  echo >&9
}

end_turns() {
  exec 9>&-
  finish "$target"
}

# Prints median and interval of the ratios of column $2 of a mode to that alone.
ratio() {
  awk -v c="$2" '{ print $c / $(c + 2) }' "$dir/$1" | interval
}
