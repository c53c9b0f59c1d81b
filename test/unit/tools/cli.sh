#!/usr/bin/env bash
# What the command line of lj-parse-memprof does: options, files, exit status,
# and one clear line on stderr where something is wrong.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=helpers.sh
. "$(dirname "$0")/helpers.sh"

stream=$dir/v2.ljm
zcat "$fixtures/v2-prog.bin.gz" > "$stream"

# -- Whole streams --

run 0 0 "$stream"
has out '^ALLOCATIONS$'
has out '^@prog\.lua:2, line 3: 80 7040 0$'
cp "$dir/out" "$dir/whole"
input=$stream run 0 0 -
cmp -s "$dir/out" "$dir/whole" || { echo "FAILED: -"; failed=1; }
run 0 0 --dump "$stream"
cmp -s "$dir/out" "$dir/whole" || { echo "FAILED: --dump"; failed=1; }
run 0 0 -o "$dir/report" "$stream"
cmp -s "$dir/report" "$dir/whole" || { echo "FAILED: -o"; failed=1; }
run 0 0 --leak-only "$stream"
has out '^HEAP SUMMARY$'
[ "$(head -n 1 "$dir/out")" = "HEAP SUMMARY" ] || failed=1
run 0 0 -H "$stream"
has out '^@prog\.lua:2, line 3: 80 6\.9KiB 0B$'
run 0 0 "$stream" "$stream"
has out '^@prog\.lua:2, line 3: 160 14080 0$'

# -- Views and formats --

run 0 0 --view=sites "$stream"
same whole --view=sites
run 0 0 --format=text "$stream"
same whole --format=text
run 0 0 --view=types -H "$stream"
has out '^type +allocations +bytes allocated'
has out '^total .*KiB'
run 0 1 --view=tree "$stream"
has err ": recorded without stacks: start with stack = 64 for callers$"
has out 'CALL TREE, without what has less than 0\.5%$'
has out '100\.00%  \(all\)$'
run 0 1 --view=tree --min=0 "$stream"
has out 'CALL TREE$'
run 0 0 --format=folded "$stream"
has out '^@prog\.lua:2, line 3 7040$'
cp "$dir/out" "$dir/folded"
run 0 0 --format=folded --metric=bytes "$stream"
same folded --metric=bytes
run 0 0 --format=folded --metric=allocations "$stream"
has out '^@prog\.lua:2, line 3 80$'
sum=$(awk '{ n += $NF } END { print n }' "$dir/folded")
run 0 0 --format=folded --min=10% "$stream"
has out '^\(rest\) [0-9]+$'
[ "$(awk '{ n += $NF } END { print n }' "$dir/out")" = "$sum" ] || wrong "folded --min=10%"
run 0 0 --format=folded --metric live -o "$dir/folded" "$stream"
run 0 0 --format=json "$stream"
has out '^"files":\[".*/v2.ljm"\],$'
has out '^"label":\[.*"@prog\.lua:2, line 3"'
has out '^"options":\{\},$'
run 0 0 --format=json --view=types "$stream"
has out '^"view":"types",$'
run 0 0 --format=csv --view=types "$stream"
has out '^type,allocations,bytes,'
has out '^total,[0-9,]+$'
run 0 0 --format=speedscope --metric=live "$stream"
has out '"activeProfileIndex":2\}$'
run 0 0 --format=html "$stream"
has out '^<!DOCTYPE html>$'
has out '<script type="application/json" id="profile" data-metric="bytes">\{'
run 0 0 --format=html --metric=live -o "$dir/html" "$stream"
run 0 0 --format=pprof "$stream"
gzip -t < "$dir/out" || { echo "FAILED: pprof is no gzip"; failed=1; }

# -- Summary --

# What the program prints on a terminal of 80 columns is in $dir/out then,
# without the carriage returns.
on_terminal() {
  local command
  printf -v command '%q ' "${prog[@]}" "$@"
  PAGER=cat NO_COLOR=1 script -qec "stty columns 80; $command" "$dir/typescript" \
    > /dev/null 2>&1 < /dev/null || wrong "$* on a terminal"
  # Its first line and the last two are not the program's.
  sed '1d; s/\r//' "$dir/typescript" | head -n -2 > "$dir/out"
}

# The first paragraph of the last run is as that of --summary.
begins() {
  sed '/^$/q' "$dir/out" | cmp -s - "$dir/summary" ||
    wrong "no summary: $(head -n 3 "$dir/out")"
}

run 0 0 --summary "$stream"
sed '/^$/q' "$dir/out" > "$dir/summary"
[ "$(wc -l < "$dir/summary")" -le 11 ] || wrong "a long summary"
has summary '^Memory: unknown process, 302 events, 16\.6KiB allocated, '
has summary ' 41\.5% of bytes, 6\.9KiB \(352B live\): prog\.lua:3$'
cat "$dir/summary" "$dir/whole" | cmp -s - "$dir/out" ||
  wrong "a summary changes the report"
run 0 0 --summary --view=tree "$stream"
begins
run 0 0 --no-summary "$stream"
same whole --no-summary
run 0 0 --summary --no-summary "$stream"
same whole '--summary --no-summary'
run 0 0 --summary -o "$dir/report" "$stream"
sed '/^$/q' "$dir/report" | cmp -s - "$dir/summary" || wrong '-o --summary'
run 64 3 --summary --format=csv "$stream"
has err '--summary is not for --format=csv$'
run 0 0 --format=json --summary "$stream"
cp "$dir/out" "$dir/json"
run 0 0 --format=json "$stream"
same json '--format=json --summary'
has out '"advice":\["leaks","diff"\]'
if command -v script > /dev/null; then
  on_terminal "$stream"
  begins
  on_terminal --view=types "$stream"
  begins
  on_terminal --no-summary "$stream"
  cmp -s "$dir/out" "$dir/whole" || wrong "--no-summary on a terminal"
  on_terminal -o "$dir/report" "$stream"
  cmp -s "$dir/report" "$dir/whole" || wrong "-o from a terminal"
else
  echo "script is not installed: nothing was tried on a terminal"
fi

# -- Shaping --

run 0 0 --view=lines "$stream"
has out ' LINE by bytes allocated, without what has less than 0\.5%$'
has out '^        7040  41\.5%         7040  41\.5% .* @prog\.lua:2, line 3$'
cp "$dir/out" "$dir/lines"
run 0 0 --metric=bytes --view=lines --sort=self "$stream"
same lines --sort=self
run 0 0 --metric=live "$stream"
has out ' FUNCTION by live bytes, '
run 0 1 --view=tree --metric=allocations --min=10% "$stream"
has out ' CALL TREE by allocations, without what has less than 10%$'
run 0 0 --view=lines --min=1K "$stream"
has out ', without what has less than 1024 bytes$'
[ "$(wc -l < "$dir/out")" -eq 7 ] || { echo "FAILED: --min=1K"; failed=1; }
run 0 0 --view=lines --top=2 --sort=name "$stream"
has out '  \([0-9]+ others\)$'
[ "$(wc -l < "$dir/out")" -eq 4 ] || { echo "FAILED: --top=2"; failed=1; }
run 0 1 --view=callers --focus='line 1[0-9]$' --ignore=INTERNAL "$stream"
has out ', only what matches line 1\[0-9\]\$, without what matches INTERNAL, '
run 0 0 --focus='line 3$' -l "$stream"
has out '^Sites, only what matches line 3\$$'
[ "$(grep -c ' holds ' "$dir/out")" -eq 1 ] || failed=1
run 0 0 --format=folded --ignore='line 3' "$stream"
grep -q 'line 3' "$dir/out" && { echo "FAILED: --ignore"; failed=1; }

# -- Differences --

run 0 0 --diff="$stream" "$stream"
[ "$(wc -l < "$dir/out")" -eq 1 ] || { echo "FAILED: --diff"; failed=1; }
has out ' change  FUNCTION by bytes allocated, compared with .*/v2\.ljm, '
run 0 0 --diff="$stream" --view=lines "$stream" "$stream"
has out '^ +14080 +7040 +\+7040 +14080 +7040 +\+7040  @prog\.lua:2, line 3$'
run 0 0 --diff="$stream" --diff="$stream" --format=folded "$stream"
has out '^@prog\.lua:2, line 3 14080 7040$'
run 2 1 --diff="$dir/none" "$stream"
has err '/none: No such file or directory$'
[ -s "$dir/out" ] && failed=1
run 2 1 --diff="$dir/none" --diff="$stream" "$dir/none"

# -- Limits --

run 0 0 --limit='live<=2340' --limit='live@*prog.lua<2kB' -o /dev/null \
  --limit='bytes@@prog.lua:2,*<=7040' "$stream"
run 3 2 --limit='live<=1kB' --limit='allocations@*prog*<10' "$stream"
has err '^lj-parse-memprof: limit live<=1kB exceeded: 2340 bytes, 1340 too many'
has err ' \(without what is older than the recording\): @prog.* has 568; INTERN'
has err 'limit allocations@\*prog\*<10 exceeded: [0-9]+ allocations, '
has out '^ALLOCATIONS$'
run 3 1 --limit='live@ap/*.lua<=10MB' "$stream"
has err '^lj-parse-memprof: limit live@ap/\*\.lua<=10MB is of nothing: no chunk, '
run 0 1 --limit='live@ap/*.lua<=0' "$stream"
has err ' is of nothing: no chunk, module or site is like ap/\*\.lua$'
run 2 2 --limit='live<1' "$stream" "$dir/none"
run 2 2 --limit='live<1' -o /dev/full "$stream"

for metric in peak peak-objects leaked temporary live-objects; do
  run 0 0 --format=folded --metric=$metric "$stream"
done
run 0 0 --format=folded --metric=live "$stream"
cp "$dir/out" "$dir/live"
run 0 0 --format=folded --metric=leaked --ignore-youngest=0 "$stream"
same live --metric=leaked
run 0 0 --format=folded --metric=leaked --ignore-youngest=100 "$stream"
[ -s "$dir/out" ] && { echo "FAILED: --ignore-youngest=100"; failed=1; }
run 0 0 --view=types --temporary=1000 --ignore-youngest=1.5 "$stream"
has out ' leaked bytes +temporary objects +temporary bytes$'
run 0 0 --view=sizes "$stream"
has out '^from +to +allocations +bytes allocated '
run 0 1 --view=time "$stream"
has err 'v2\.ljm: has no time marks: nothing of it can be shown over time$'
run 0 1 --view=snapshots --format=csv "$stream"
has err 'v2\.ljm: has no time marks: nothing of it can be shown over time$'
run 0 1 --heap-snap-interval=0.5 --to=7 "$stream"
has err 'v2\.ljm: has no time marks: all of it counts as time 0$'
same whole --to=7
run 0 1 --from=0.5 "$stream"
[ "$(grep -c . "$dir/out")" -eq 4 ] || { echo "FAILED: --from"; failed=1; }

# -- Streams in part, or none --

head -c 3000 "$stream" > "$dir/cut"
run 1 1 "$dir/cut"
has err '/cut: killed or still recording$'
run 1 1 -v "$dir/cut"
has err '/cut: killed or still recording; offset [0-9]+: expected an event'
has out '^HEAP SUMMARY$'
run 1 1 --format=json "$dir/cut"
has out '"damage":\[\{"file":".*/cut","offset":[0-9]+,"what":"expected an event'
run 1 1 "$dir/cut" "$stream"
run 1 1 --diff="$dir/cut" "$stream"
run 3 2 --limit='bytes<1' "$dir/cut"
: > "$dir/empty"
run 2 1 "$dir/empty"
has err '/empty: expected a recording, the file is empty$'
[ -s "$dir/out" ] && failed=1
head -c 100 "$stream" > "$dir/symtab"
run 2 1 "$dir/symtab"
run 2 1 /dev/zero
has err 'found 00 00 00$'
run 2 1 "$dir/missing"
has err '/missing: No such file or directory$'
run 2 1 "$dir"
has err 'Is a directory$'
run 2 1 "$dir/missing" "$stream"
has out '^@prog\.lua:2, line 3: 80 7040 0$'
run 2 2 "$dir/missing" "$dir/cut"
printf 'ljs\x10\0\0\0\1\x80ljd\x10\0\0\0' > "$dir/heap"
run 1 1 -v "$dir/heap"
has err 'incomplete: .*expected a block or the totals, the stream ends'
printf 'ljs\x03\0\0\0\x80ljp\x02\0\0\0' > "$dir/cpu"
run 2 1 "$dir/cpu"
has err 'found a CPU profile'

# -- CPU profiles --

cpu=$dir/cpu.ljp
cpu_profile > "$cpu"
run 0 0 "$cpu"
has out '^Samples: 7 at 99 Hz$'
has out '^           7 100\.0%            7 100\.0%  \(unknown\)$'
run 0 0 --view=lines --sort=total --min=1 "$cpu"
run 0 0 --view=tree --min=0 "$cpu"
has out '  CALL TREE$'
run 0 0 --view=threads "$cpu"
run 0 0 --view=time "$cpu"
has out '^seconds  samples$'
has out '^  0\.010        7$'
run 0 0 --from=1 "$cpu"
has out '^Samples: 0 at 99 Hz$'
has out '^Outside: 7 samples of other times$'
run 0 0 --format=folded "$cpu" "$cpu"
has out '^\(unknown\) 14$'
head -c $(($(stat -c %s "$cpu") - 1)) "$cpu" > "$dir/cut"
run 1 1 "$dir/cut"
has out '^Samples: 0$'
has err ': killed or still recording; [0-9]+ bytes lost$'
run 1 1 -v "$dir/cut"
has err '; offset 16: expected a block of [0-9]+ bytes, found [0-9]+; '
run 0 0 --format=html "$cpu"
run 0 0 --format=json "$cpu"
has out '^"of":\["cpu"\],$'
run 0 0 --format=pprof -o "$dir/pprof" "$cpu"
run 64 1 --view=types "$cpu"
has err 'expected a VIEW of --format=text .*, not types, of a CPU profile$'
run 64 1 --format=folded --metric=live "$cpu"
has err 'there is no --metric=live, of a CPU profile$'
run 64 1 --limit='live<1' "$cpu"
has err 'there is no --limit=live<1, of a CPU profile$'

# -- Memory and CPU together --

run 0 0 "$stream" "$cpu"
has out '^Whether memory and CPU were recorded at the same time is not known$'
has out '  allocations  bytes allocated  live bytes  bytes at peak  alloc, GC  FUNCTION by samples'
run 0 0 --native "$stream" "$cpu"
has out '  allocations  bytes allocated  live bytes  bytes at peak  alloc, GC  FUNCTION by samples'
run 0 0 --view=lines --sort=bytes "$cpu" "$stream"
has out ' +0   0\.0% +0   0\.0% +80 +7040 .* @prog\.lua:2, line 3$'
run 0 0 --metric=peak --view=tree "$cpu" "$stream"
run 0 0 --view=tree "$cpu" "$stream"
has out '  CALL TREE by samples, '
run 0 0 --view=callers "$cpu" "$stream"
has out '  CALLERS by samples, '
run 0 0 --view=tree "$cpu"
has out '  CALL TREE, '
run 0 1 --view=types "$cpu" "$stream"
has err '^lj-parse-memprof: --view=types is of memory: the CPU profile is left out$'
run 0 1 --view=sites "$stream" "$cpu"
same whole "--view=sites, and a CPU profile"
has err '--view=sites is of memory: the CPU profile is left out$'
run 0 1 --view=threads "$stream" "$cpu"
has err '--view=threads is of CPU: the memory profile is left out$'
run 0 0 --format=html -o "$dir/html" "$cpu" "$stream"
run 64 1 --diff="$cpu" "$stream"
has err '--diff: a memory profile cannot be compared with a CPU one$'
run 64 1 --diff="$stream" --format=folded "$cpu"
run 0 0 --diff="$stream" "$stream" "$cpu"
run 0 0 --diff="$stream" --diff="$cpu" "$cpu"
run 64 1 --view=lines --sort=alloc-gc "$stream" "$stream"
has err ', of a memory profile$'

# -- Reports that cannot be written --

cp "$stream" "$dir/kept"
ln -sf kept "$dir/link"
run 64 1 -o "$dir/kept" "$stream" "$dir/kept"
has err 'the report would overwrite .*/kept, which it is of$'
run 64 1 -o "$dir/link" --diff="$dir/kept" "$stream"
input=$dir/kept run 64 1 -o "$dir/kept" -
run 64 1 -o "$dir/kept" --follow "$dir/kept"
cmp -s "$stream" "$dir/kept" || { echo "FAILED: overwritten"; failed=1; }
run 0 0 -o "$dir/kept" "$stream"

run 2 1 -o /dev/full "$stream"
has err '/dev/full: No space left on device$'
run 2 1 -o "$dir/none/report" "$stream"
has err '/none/report: No such file or directory$'
"${prog[@]}" "$stream" > /dev/full 2> "$dir/err"
[ $? -eq 2 ] || { echo "FAILED: full disk"; failed=1; }
has err 'standard output: No space left on device$'
"${prog[@]}" "$stream" >&- 2> "$dir/err"
[ $? -eq 2 ] || { echo "FAILED: closed stdout"; failed=1; }

# -- Usage --

run 64 1
has err 'expected a FILE'
run 64 1 --nonsense "$stream"
run 64 1 --view=leaves "$stream"
has err 'expected a VIEW of --format=text \(sites, .*stacks\), not leaves$'
run 64 1 --format=xml "$stream"
has err 'expected a FORMAT \(text, json, .*, csv\), not xml$'
run 64 1 --format=csv --view=tree "$stream"
has err 'expected a VIEW of --format=csv \(.*\), not tree, of a memory profile$'
run 64 1 --format=json --metric=live "$stream"
has err '--metric is not for --format=json$'
run 64 1 --format=folded --view=tree "$stream"
has err '--view is not for --format=folded$'
for min in 101% nan% % '' 1x 0.5 -1 9e18KiB 0x10 1%%; do
  run 64 1 --min="$min" --view=tree "$stream"
  has err "expected a SIZE such as 4096, 64K, or 0% to 100%, not $min\$"
done
run 64 1 --metric=size --format=folded "$stream"
has err 'expected a METRIC \(.*bytes.*\), not size$'
run 64 1 --min=1 "$stream"
has err '--min is not for --view=sites, of a memory profile; did you mean --view=functions\?$'
run 64 1 --view=threads "$stream"
has err 'expected a VIEW .*, not threads, of a memory profile$'
run 64 1 --sort=size "$stream"
has err '--sort is not for --view=sites; did you mean --view=functions\?$'
run 64 1 --min=1 --view=sites "$stream"
has err '--min is not for --view=sites; did you mean --view=functions\?$'
run 64 1 --sort=total --view=sites "$stream"
has err '--sort is not for --view=sites; did you mean --view=functions\?$'
run 64 1 --sort=live --view=tree "$stream"
has err 'expected a KEY of --view=tree \(total, self, name\), not live$'
run 64 1 --sort=size --view=types "$stream"
has err 'expected a KEY of --view=types \(type, allocations, .*\), not size$'
run 64 1 --sort=live --view=lines "$cpu"
has err 'expected a KEY .*, total-percent, name, .*\), not live, of a CPU profile$'
run 64 1 --top=0 "$stream"
has err 'expected N, a number of rows, not 0$'
run 64 1 --top=x "$stream"
run 64 1 --top=2 --format=folded "$stream"
has err '--top is not for --format=folded$'
run 64 1 --focus='x|a(b' "$stream"
has err '--focus: Unmatched .* at character 4 of x\|a\(b$'
run 64 1 --ignore='a[b' "$stream"
has err '--ignore: Unmatched .* at character 2 of a\[b$'
run 64 1 --diff="$stream" --view=sites "$stream"
has err '--diff is not for --view=sites; did you mean --view=functions\?$'
run 64 1 --limit=live "$stream"
has err '--limit=live: expected METRIC<=NUMBER or METRIC@GLOB<=NUMBER$'
run 64 1 --limit='live<=1TB' "$stream"
has err 'expected a NUMBER such as 4096, 10MB or 1.5GiB, not 1TB$'
run 64 1 --limit='size@x<=1' "$stream"
has err '--limit=size@x<=1: there is no METRIC size$'
run 64 1 --metric=live --view=sites "$stream"
has err '--metric is not for --view=sites; did you mean --view=functions\?$'
run 64 1 --temporary=5 "$stream"
has err '--temporary is not for --view=sites, of a memory profile; did you mean --view=functions\?$'
run 0 0 --temporary=5 --limit='temporary<=1MB' "$stream"
run 64 1 --ignore-youngest=5 --view=sizes "$stream"
run 64 1 --heap-snap-interval=5 --view=tree "$stream"
has err '--heap-snap-interval is not for --view=tree$'
run 64 1 --heap-snap-interval=0 "$stream"
has err 'an interval of at least 0\.001 seconds, not 0$'
run 64 1 --from=-1 "$stream"
has err 'expected a number of seconds, not -1$'
run 64 1 --to=soon "$stream"
run 64 1 --from=2 --to=2 "$stream"
has err 'a time for --from that is before that of --to$'
run 64 1 --temporary=0 --view=types "$stream"
has err 'expected a number of allocations, not 0$'
run 64 1 -l --view=tree "$stream"
has err '--leak-only is not for --view=tree$'
run 64 1 -H --format=folded "$stream"
has err '--human-readable is not for --format=folded$'
run 0 0 --help
has out '^ What is reported:$'
has out '^Usage: '
has out '^Examples:$'
has out 'Exit status: '
run 0 0 -h
has out '^Usage: '
run 0 0 --version
has out '^lj-parse-memprof [0-9]+\.[0-9]+\.[0-9]+$'

exit "$failed"
