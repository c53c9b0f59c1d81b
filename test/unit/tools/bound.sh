#!/usr/bin/env bash
# bound.sh CRAFT PROGRAM...: reports of small recordings of deep stacks, made by
# CRAFT, are bounded, say so, and still have all that was counted.

set -uo pipefail
here=$(dirname "$0")
craft=$1
set -- "" "${@:2}"
# shellcheck source-path=SCRIPTDIR source=helpers.sh
. "$here/helpers.sh"

bound=$((256 << 20))
deep=$dir/deep.ljm
"$craft" 2000 2000 > "$deep"
total=$("${prog[@]}" --format=csv --view=lines --columns=self "$deep" |
  awk 'NR > 1 { n += $1 } END { printf "%d\n", n }')

# The output of the last run is at most the bound, but not less than half of it.
bounded() {
  local n
  n=$(wc -c < "$dir/out")
  if [ "$n" -gt "$bound" ] || [ "$n" -le $((bound / 2)) ]; then
    wrong "$1: $n bytes"
  fi
}

# The lines of the last run, folded, sum up to all that was counted.
adds_up() {
  local sum
  sum=$(awk '{ n += $NF } END { printf "%d\n", n }' "$dir/out")
  [ "$sum" = "$total" ] || wrong "$1: $sum, not $total"
}

# -- Folded stacks -------------------------------------------------------------

says="the report would be larger than 256 MiB: the smallest stacks are added up in \(rest\); --min makes it smaller$"
run 1 1 --format=folded "$deep"
has err "$says"
has out '^\(rest\) [0-9]+$'
bounded folded
adds_up folded
run 0 0 --format=folded --min=1% "$deep"
[ "$(cat "$dir/out")" = "(rest) $total" ] || wrong "folded --min=1%"
run 0 0 --format=folded --min=1099 "$deep"
[ "$(wc -l < "$dir/out")" -eq 21 ] || wrong "folded --min=1099"
adds_up "folded --min=1099"

# -- The same for speedscope ---------------------------------------------------

"$craft" 8000 3 > "$deep"
run 1 1 --format=speedscope "$deep"
has err "$says"
has out '"name":"\(rest\)"'
bounded speedscope
tail -c 200 "$dir/out" | tail -n 2 | grep -qE '^"activeProfileIndex":[0-9]+\}$' ||
  wrong "speedscope is cut"
run 0 0 --format=speedscope --min=1099 "$deep"
[ "$(wc -c < "$dir/out")" -lt 20000000 ] || wrong "speedscope --min=1099"

# -- Trees ---------------------------------------------------------------------

"$craft" 100 3 > "$deep"
says="the report would be larger than 256 MiB: the deepest levels are left out; --min makes it smaller$"
run 1 1 --view=callers "$deep"
has err "$says"
has out 'CALLERS by bytes allocated, without what has less than 0.5%, only the first [0-9]+ levels$'
bounded callers
run 0 0 --view=callers --min=2% "$deep"
run 0 0 --view=callers --focus='line 4100 ' "$deep"

exit "$failed"
