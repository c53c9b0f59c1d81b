#!/usr/bin/env bash
# stacks_memory.sh CRAFT PROGRAM...: a profile of stacks that have nothing in
# common, made by CRAFT, is read in 60 MB, and all of it is counted.

set -uo pipefail
here=$(dirname "$0")
craft=$1
set -- "" "${@:2}"
# shellcheck source-path=SCRIPTDIR source=helpers.sh
. "$here/helpers.sh"

stacks=45000
deep=$dir/deep.ljp
"$craft" "$stacks" 120 > "$deep"

# What all rows have themselves is all that there is.
counted() {
  [ "$(awk -F, 'NR > 1 { n += $1 } END { print n }' "$dir/out")" = "$stacks" ] ||
    wrong "$*: not all samples are there"
}

# A program with sanitizers, or in an emulator, has no such limit.
limit='ulimit'
(ulimit -v 58593 && "${prog[@]}" --version > /dev/null 2>&1) || limit=true
for view in functions lines; do
  ("$limit" -v 58593 &&
    run 0 0 --format=csv --view="$view" --columns=self "$deep" &&
    counted "$view" && exit "$failed") || failed=1
done
("$limit" -v 58593 && run 0 0 --summary "$deep" && exit "$failed") || failed=1
has out " $stacks samples "

exit "$failed"
