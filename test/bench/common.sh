# What the benchmarks of the recorder and of the parser have in common. They set
# $here, this directory; $build, a build tree; and $dir for what they write.
# shellcheck shell=bash disable=SC2154

cost=$dir/cost
"${CC:-cc}" -O2 -o "$cost" "$here/cost.c"

# Prints the median of the numbers on standard input.
median() {
  sort -g | awk '{ v[NR] = $1 } END {
    print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# Runs a command, "once NAME COMMAND...", and keeps its cost in NAME.
once() {
  local name=$1
  shift
  "$cost" "$@" >> "$dir/$name"
}

# The number of events in a recording, by its report.
events() {
  "$build/bin/lj-parse-memprof" "$1" | awk '
    /^(ALLOC|REALLOC|DEALLOC)ATIONS$/ { on = 1 }
    /^HEAP SUMMARY/ { on = 0 }
    on && match($0, /: [0-9]+ [0-9]+ [0-9]+( \(.*\))?$/) {
      split(substr($0, RSTART + 2), f, " "); n += f[1]
    }
    END { print n }'
}
