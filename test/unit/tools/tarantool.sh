#!/usr/bin/env bash
# --format=tarantool against what Tarantool's own tool printed of the same
# streams:
#
#   tarantool.sh FIXTURES PROGRAM...
#
# shellcheck source=SCRIPTDIR/helpers.sh
. "$(dirname "$0")/helpers.sh"

# To the character, with rows that count the same in its order.
for stream in v2-prog v2-progjit v3-prog v3-progjit; do
  run 0 0 --format=tarantool "$fixtures/$stream.bin.gz"
  cp "$fixtures/$stream.txt" "$dir"
  same "$stream.txt"
done

# Version 1 has no traces; its tool's text is that of version 2.
run 0 0 --format=tarantool "$fixtures/v1-prog.bin.gz"
has out '^@prog\.lua:3: 80 events	\+7040 bytes	-0 bytes$'
has out '^@prog\.lua:3 holds 352 bytes: 80 allocs, 76 frees$'

# The tool's options.
run 0 0 --format=tarantool --leak-only "$fixtures/v3-prog.bin.gz"
sed -n '/^HEAP SUMMARY:/,$p' "$dir/v3-prog.txt" > "$dir/leaks"
same leaks
run 0 0 --format=tarantool -H "$fixtures/v3-prog.bin.gz"
has out '^INTERNAL: 70 events	\+819\.87KiB	-0B$'
has out '^@prog\.lua:3: 80 events	\+6\.88KiB	-0B$'
has out '^@prog\.lua:19 holds 1\.07KiB: 10 allocs, 0 frees$'

# Of two files: the sums, and names decide the order.
run 0 0 --format=tarantool "$fixtures"/v{3,2}-prog.bin.gz
has out '^@prog\.lua:15: 60 events	\+3822B	-0B$'
grep -A 1 '^@prog\.lua:10: 2 events' "$dir/out" | grep -q '^@prog\.lua:11: 2 events' ||
  wrong "rows of two files are not sorted by name"

# Code with several lines has an alias. This is a stream of version 3 whose only
# function is the chunk "local t\nreturn {}" at 0x10: 24 bytes at 0x20, its line 2.
# Another chunk is called by an escape sequence.
printf 'ljs\x03\0\0\0\0\x10\x11local t\nreturn {}\0\0\x30\x06@\x1b[31m\0\x80' > "$dir/alias.bin"
printf 'ljm\x03\0\0\0\x09\x10\x02\x20\x18\x09\x30\x01\x40\x18\x80' >> "$dir/alias.bin"
run 0 0 --format=tarantool "$dir/alias.bin"
has out '^function_alias_1:2: 1 events	\+24B	-0B$'
printf 'ALIASES:\nfunction_alias_1:\n1\t| local t\n2\t| return {}\n\n\n' > "$dir/aliases"
sed -n '/^ALIASES:/,$p' "$dir/out" | cmp - "$dir/aliases" || wrong "aliases"
has out $'^@\x1b\\[31m:1: 1 events'
command=$(printf '%q ' "${prog[@]}" --format=tarantool "$dir/alias.bin")
PAGER="cat" script -qec "$command" /dev/null < /dev/null > "$dir/out"
! grep -qF $'\x1b[31m' "$dir/out" || wrong "an escape sequence on a terminal"

# Two functions at one address, one after the other, are two rows; of a file that
# ends early there is what it has.
printf 'ljs\x03\0\0\0\0\x10\x02@a\0\x80ljm\x03\0\0\0\x09\x10\x01\x20\x18' > "$dir/twice.bin"
printf '\x08\x10\x02@b\0\x09\x10\x01\x40\x10' >> "$dir/twice.bin"
run 1 1 --format=tarantool "$dir/twice.bin"
has out '^@a:1: 1 events	\+24B	-0B$'
has out '^@b:1: 1 events	\+16B	-0B$'

# Tarantool's own CPU profiles are refused.
printf 'ljs\x03\0\0\0\x80ljp\x02\0\0\0\x80' > "$dir/sysprof.bin"
run 2 1 --format=tarantool "$dir/sysprof.bin"
has err 'found a CPU profile \(ljp\)'

# Not of CPU time.
cpu_profile > "$dir/cpu.ljp"
run 64 1 --format=tarantool "$dir/cpu.ljp"

exit "$failed"
