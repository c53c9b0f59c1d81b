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
run 0 0 --view=tree "$stream"
has out 'CALL TREE, without what has less than 0\.5%$'
has out '100\.00%  \(all\)$'
run 0 0 --view=tree --min=0 "$stream"
has out 'CALL TREE$'
run 0 0 --format=folded "$stream"
has out '^@prog\.lua:2, line 3 7040$'
cp "$dir/out" "$dir/folded"
run 0 0 --format=folded --metric=bytes "$stream"
same folded --metric=bytes
run 0 0 --format=folded --metric=allocations "$stream"
has out '^@prog\.lua:2, line 3 80$'
run 0 0 --format=folded --metric live -o "$dir/folded" "$stream"

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
has err 'v2\.ljm: has no time marks: all of it counts as time 0$'
run 0 1 --heap-snap-interval=0.5 --to=7 "$stream"
same whole --to=7
run 0 1 --from=0.5 "$stream"
[ "$(grep -c . "$dir/out")" -eq 4 ] || { echo "FAILED: --from"; failed=1; }

# -- Streams in part, or none --

head -c 3000 "$stream" > "$dir/cut"
run 1 1 "$dir/cut"
has err '^lj-parse-memprof: .*/cut: offset [0-9]+: expected an event'
has out '^HEAP SUMMARY$'
run 1 1 "$dir/cut" "$stream"
: > "$dir/empty"
run 2 1 "$dir/empty"
has err '/empty: offset 0: expected a stream, it is empty$'
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
run 2 1 "$dir/heap"
has err 'found a heap dump'
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
has err ': offset 16: expected a block of [0-9]+ bytes, found [0-9]+; '
run 64 1 --view=types "$cpu"
has err '--format=text has no view types, of a CPU profile$'
run 64 1 --format=folded --metric=live "$cpu"
has err '--metric is not for --format=folded, of a CPU profile$'
run 64 1 "$stream" "$cpu"
has err 'memory and CPU profiles cannot be in one report yet$'

# -- Reports that cannot be written --

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

run 64 3
has err 'expected a FILE'
run 64 3 --nonsense "$stream"
run 64 3 --view=leaves "$stream"
has err '--format=text has no view leaves$'
run 64 3 --format=xml "$stream"
has err 'expected a FORMAT \(.*folded.*\), not xml$'
run 64 3 --format=folded --view=tree "$stream"
has err '--format=folded has no view tree$'
run 64 3 --min=101 --view=tree "$stream"
run 64 3 --min=nan --view=tree "$stream"
run 64 3 --min= --view=tree "$stream"
run 64 3 --min=1x --view=tree "$stream"
has err 'expected a PERCENT from 0 to 100, not 1x$'
run 64 3 --metric=size --format=folded "$stream"
has err 'expected a METRIC \(.*bytes.*\), not size$'
run 64 1 --min=1 "$stream"
has err '--min is not for --view=sites, of a memory profile$'
run 64 1 --view=lines "$stream"
has err '--format=text has no view lines, of a memory profile$'
run 64 3 --min=1 --view=sites "$stream"
has err '--min is not for --view=sites$'
run 64 3 --sort=total --view=tree "$stream"
has err '--sort is not for --view=tree$'
run 64 3 --sort=name --view=lines "$stream"
has err 'expected an ORDER: self or total, not name$'
run 64 3 --metric=live "$stream"
has err '--metric is not for --view=sites$'
run 64 3 --temporary=5 "$stream"
has err '--temporary is not for --view=sites$'
run 64 3 --ignore-youngest=5 --view=tree "$stream"
run 64 3 --heap-snap-interval=5 --view=tree "$stream"
has err '--heap-snap-interval is not for --view=tree$'
run 64 3 --heap-snap-interval=0 "$stream"
has err 'an interval of at least 0\.001 seconds, not 0$'
run 64 3 --from=-1 "$stream"
has err 'expected a number of seconds, not -1$'
run 64 3 --to=soon "$stream"
run 64 3 --from=2 --to=2 "$stream"
has err 'a time for --from that is before that of --to$'
run 64 3 --temporary=0 --view=types "$stream"
has err 'expected a number of allocations, not 0$'
run 64 3 -l --view=tree "$stream"
has err '--leak-only is not for --view=tree$'
run 64 3 -H --format=folded "$stream"
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
