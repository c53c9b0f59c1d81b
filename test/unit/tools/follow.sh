#!/usr/bin/env bash
# What lj-parse-memprof --follow does with a file that grows.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=helpers.sh
. "$(dirname "$0")/helpers.sh"

whole=$dir/whole.ljm
zcat "$fixtures/v2-prog.bin.gz" > "$whole"
run 0 0 "$whole"
cp "$dir/out" "$dir/whole"
cpu_profile > "$dir/whole.ljp"
run 0 0 "$dir/whole.ljp"
cp "$dir/out" "$dir/cpu"

file=$dir/growing
every=0.1

# Follows the file in the background; what it writes is in $dir/out and err.
follow() {
  : > "$dir/out"
  "$@" "${prog[@]}" --follow=$every ${out:+-o "$out"} "$file" \
    > "$dir/out" 2> "$dir/err" &
  pid=$!
}

# How many reports have been written.
reports() {
  grep -c '^=====' "$dir/out"
}

# Waits until there are $1 reports, or more.
until_reports() {
  local n
  for ((n = 0; n < 200; n++)); do
    [ "$(reports)" -ge "$1" ] && return
    sleep 0.05
  done
  wrong "not $1 reports: $(cat "$dir/out")"
}

# Waits until $dir/report is not the file of before.
before=0
until_replaced() {
  local n
  for ((n = 0; n < 200; n++)); do
    [ "$(stat -c %i "$dir/report")" != "$before" ] && break
    sleep 0.05
  done
  [ "$n" -lt 200 ] || wrong "the report was not replaced"
  before=$(stat -c %i "$dir/report")
}

# The program that follows must end by itself, with status $1 and as many lines
# on stderr as $2.
ends() {
  local status n
  for ((n = 0; n < 200; n++)); do
    kill -0 "$pid" 2> /dev/null || break
    sleep 0.05
  done
  kill -KILL "$pid" 2> /dev/null && wrong "it does not end"
  wait "$pid"
  status=$?
  [ "$status" -eq "$1" ] || wrong "status $status, not $1: $(cat "$dir/err")"
  [ "$(wc -l < "$dir/err")" -eq "$2" ] || wrong "stderr: $(cat "$dir/err")"
}

# The last report must be as the file $1.
last() {
  awk '/^=====/ { s = ""; next } { s = s $0 "\n" } END { printf "%s", s }' \
    "$dir/out" | cmp -s - "$dir/$1" || wrong "the last report is not as $1"
  [ "$(grep -c '^=====.*, the last$' "$dir/out")" -eq 1 ] || wrong "no last one"
}

# Appends the bytes of a recording from $2 to $3.
grow() {
  head -c "$3" "$1" | tail -c +$(($2 + 1)) >> "$file"
}

# -- A recording that ends --

# Nothing yet, then pieces that end anywhere: no damage, a report for each.
: > "$file"
follow
sleep 0.3
[ "$(reports)" -eq 0 ] || wrong "a report of nothing"
grow "$whole" 0 1000
until_reports 1
grow "$whole" 1000 3001
until_reports 2
now=$(reports)
grow "$whole" 3001 4002
until_reports $((now + 1))
now=$(reports)
sleep 0.4
[ "$(reports)" -eq "$now" ] || wrong "a report, but nothing came"
[ -s "$dir/err" ] && wrong "stderr: $(cat "$dir/err")"
grow "$whole" 4002 100000
ends 0 0
last whole
has out '^===== [0-9.]+ seconds, 3001 bytes$'
has out '^===== [0-9.]+ seconds, 4002 bytes$'
has out "^===== [0-9.]+ seconds, $(stat -c %s "$whole") bytes, the last\$"

# A block that is there in part is no damage. The last report has all samples.
head -c 60 "$dir/whole.ljp" > "$file"
follow
until_reports 1
grow "$dir/whole.ljp" 60 64
until_reports 2
has out '^Samples: 0$'
[ -s "$dir/err" ] && wrong "stderr: $(cat "$dir/err")"
grow "$dir/whole.ljp" 64 1000
ends 0 0
last cpu

# One that is whole: there is nothing to wait for.
cp "$whole" "$file"
follow
ends 0 0
last whole
run 0 0 --follow "$whole"
last whole

# -- Until a signal comes --

for signal in TERM INT; do
  head -c 3000 "$whole" > "$file"
  run 1 1 "$file"
  cp "$dir/out" "$dir/part"
  follow env --default-signal=INT
  until_reports 1
  kill -$signal "$pid"
  ends 1 1
  has err ': killed or still recording$'
  last part
done

# Who is to ignore Ctrl-C does.
head -c 3000 "$whole" > "$file"
follow env --ignore-signal=INT
until_reports 1
kill -INT "$pid"
sleep 0.3
grow "$whole" 3000 100000
ends 0 0
last whole

# -- A file that is not the same any more --

# Something happens to the file.
change() {
  case $1 in
    truncated) : > "$file" ;;
    removed) rm "$file" ;;
    replaced) cp "$whole" "$file.new" && mv "$file.new" "$file" ;;
    written) cat "$dir/whole.ljp" "$whole" 1<> "$file" ;;
  esac
}

for what in truncated removed replaced written; do
  head -c 3000 "$whole" > "$file"
  follow
  until_reports 1
  change $what
  ends 1 1
  has err "/growing: offset 3000: cannot be read on: it was $what (anew )?while it was followed\$"
  last part
done

# -- Where the report goes --

# A file is always all of one report, keeps its mode and the links to it.
head -c 3000 "$whole" > "$file"
echo old > "$dir/report"
chmod 640 "$dir/report"
ln -s report "$dir/link"
before=$(stat -c %i "$dir/report")
out=$dir/link follow
until_replaced
cmp -s "$dir/report" "$dir/part" || wrong "a report in part"
grow "$whole" 3000 4000
until_replaced
[ "$(head -n 1 "$dir/report")" = ALLOCATIONS ] || wrong "a heading in a file"
grow "$whole" 4000 100000
ends 0 0
cmp -s "$dir/report" "$dir/whole" || wrong "the report in a file"
[ -s "$dir/out" ] && wrong "a report on standard output as well"
[ -L "$dir/link" ] || wrong "the link was replaced"
[ "$(stat -c %a "$dir/report")" = 640 ] || wrong "the mode was changed"
[ "$(find "$dir" -name 'report?*' -o -name 'link?*' | wc -l)" -eq 0 ] ||
  wrong "something was left behind"
out=$dir/new follow
ends 0 0
[ "$(stat -c %a "$dir/new")" = "$(stat -c %a "$file")" ] || wrong "a mode"

# On a terminal, every report is painted over the one before; the cursor is
# visible again at the end of each.
head -c 3000 "$whole" > "$file"
: > "$dir/tty"
(while ! grep -q '=====' "$dir/tty"; do sleep 0.1; done && grow "$whole" 3000 100000) &
script -qec "$(printf '%q ' "${prog[@]}" --follow=$every "$file")" /dev/null \
  < /dev/null > "$dir/tty" || wrong "on a terminal"
wait
n=$(grep -c $'\e\\[?25l\e\\[H===== [0-9.]* seconds, [0-9]* bytes' "$dir/tty")
[ "$n" -ge 2 ] || wrong "$n screens"
[ "$(grep -c $'\e\\[J\e\\[?25h$' "$dir/tty")" -ge 1 ] || wrong "no cursor"

# What cannot be written ends it.
head -c 3000 "$whole" > "$file"
out=$dir/none/report follow
ends 2 1
has err '/none/report: No such file or directory$'
"${prog[@]}" --follow=$every "$file" > /dev/full 2> "$dir/err" && wrong "full"
has err 'standard output: No space left on device$'

# -- A heap dump that is being written: shown when all of it is there --

dump=$dir/whole.ljd
zcat "$fixtures/../golden/heap.ljd.gz" > "$dump"
head -c 5000 "$dump" > "$file"
follow
sleep 0.5
kill -0 "$pid" || wrong "a dump that is not whole ends it"
[ "$(reports)" -eq 0 ] || wrong "a part of a dump is shown"
tail -c +5001 "$dump" >> "$file"
ends 0 0
has out '^HEAP DUMP$'

# -- Usage --

run 64 1 --follow "$whole" "$whole"
has err 'follow is for one FILE, not 2$'
run 64 1 --follow -
has err 'follow is not for standard input$'
input=$whole run 64 1 --follow=1 -
mkfifo "$dir/fifo"
run 64 1 --follow "$dir/fifo"
has err 'follow is for a file, and .*/fifo is none$'
run 64 1 --follow "$dir"
run 64 1 --follow "$fixtures/v2-prog.bin.gz"
has err 'follow is for a file, and .*/v2-prog\.bin\.gz is packed$'
run 64 1 --follow -o /dev/null "$whole"
has err 'follow writes a FILE anew, and /dev/null is none$'
for seconds in 0 -1 x 1x nan 86401 ''; do
  run 64 1 --follow="$seconds" "$whole"
  has err 'expected SECONDS from above 0 to 86400, not '
done
run 2 1 --follow "$dir/missing"
has err '/missing: No such file or directory$'

exit "$failed"
