#!/usr/bin/env bash
# Many FILEs are one report: from lists, packed in any way, with some that are
# broken.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=helpers.sh
. "$(dirname "$0")/helpers.sh"

mkdir "$dir/fleet"
fleet=$dir/fleet
for i in {1..20}; do
  zcat "$fixtures/v2-prog.bin.gz" > "$fleet/host $i.ljm"
  cp "$fixtures/v2-prog.bin.gz" "$fleet/host $i.ljm.gz"
done
files=("$fleet"/*)
run 0 0 "${files[@]}"
has out '^@prog\.lua:2, line 3: 3200 281600 0$'
cp "$dir/out" "$dir/whole"

# -- Lists --

printf '%s\n' "${files[@]}" > "$dir/list"
printf '%s\0' "${files[@]}" > "$dir/nuls"
run 0 0 --files-from="$dir/list"
same whole "a list of lines"
run 0 0 --files-from="$dir/nuls"
same whole "a list with NULs"
input=$dir/list run 0 0 --files-from=-
same whole "standard input"
printf '\n%s\n\n%s' "${files[0]}" "${files[1]}" > "$dir/short"
run 0 0 --files-from="$dir/short"
has out '^@prog\.lua:2, line 3: 160 14080 0$'
run 0 0 "${files[2]}" --files-from="$dir/short" --files-from="$dir/short" "${files[3]}"
has out '^@prog\.lua:2, line 3: 480 42240 0$'
mv "${files[1]}" "$fleet/a
newline.ljm"
find "$fleet" -type f -print0 > "$dir/nuls"
run 0 0 --files-from="$dir/nuls"
same whole "a name with a newline"
mv "$fleet/a
newline.ljm" "${files[1]}"

# What cannot be read of a fleet does not keep the rest from being reported.
head -c 3000 "${files[0]}" > "$fleet/cut.ljm"
: > "$fleet/empty.ljm"
printf '%s\n' "${files[@]:0:7}" "$fleet/cut.ljm" "${files[@]:7}" > "$dir/damaged"
run 1 1 --files-from="$dir/damaged"
has err '/cut\.ljm: killed or still recording$'
has out '^@prog\.lua:2, line 3: 3[23][0-9][0-9] '
printf '%s\n' "${files[@]:0:7}" "$fleet/empty.ljm" "$fleet/gone.ljm" \
  "${files[@]:7}" > "$dir/damaged"
run 2 2 --files-from="$dir/damaged"
has err '/empty\.ljm: expected a recording, the file is empty$'
has err '/gone\.ljm: No such file or directory$'
same whole "with two that are not there"

# A file is closed before the next one is opened.
(ulimit -n 20 && run 0 0 --files-from="$dir/list" && exit "$failed") || failed=1

# -- Differences --

run 0 0 --diff-from="$dir/list" --files-from="$dir/list"
has out ' FUNCTION by bytes allocated, compared with 40 recordings, '
[ "$(wc -l < "$dir/out")" -eq 1 ] || wrong "a fleet differs from itself"
run 0 0 --diff="${files[0]}" --diff-from="$dir/short" --view=lines "${files[0]}"
has out ', compared with .*/host 1\.ljm, .*/host 1\.ljm, .*/host 1\.ljm\.gz, '
has out '^ +7040 +21120 +-14080 +7040 +21120 +-14080  @prog\.lua:2, line 3$'

# -- What is wrong with a list --

run 2 1 --files-from="$dir/none"
has err '^lj-parse-memprof: .*/none: No such file or directory$'
run 2 1 --files-from="$dir"
has err ': Is a directory$'
run 64 1 --files-from=/dev/null
has err 'expected names of FILEs in /dev/null, there are none$'
run 64 1 --files-from=-
has err 'expected names of FILEs in standard input, there are none$'
run 64 1 --diff-from=/dev/null "${files[0]}"
run 64 1 --diff-from="$dir/list"
has err 'expected a FILE(, or - for standard input| that is compared with .*)$'
run 64 1 --follow --files-from="$dir/short"
has err '--follow is for one FILE, not 2$'
run 64 1 -o "${files[0]}" --files-from="$dir/short"
has err 'the report would overwrite .*/host 1\.ljm, which it is of$'
run 64 1 -o "${files[0]}" --diff-from="$dir/short" "${files[3]}"

exit "$failed"
