#!/usr/bin/env bash
# What lj-parse-memprof reads: packed files and pipes, in bounded memory, and
# what it shows on a terminal meanwhile.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=helpers.sh
. "$(dirname "$0")/helpers.sh"

gz=$fixtures/v2-prog.bin.gz
stream=$dir/v2.ljm
zcat "$gz" > "$stream"
run 0 0 "$stream"
cp "$dir/out" "$dir/whole"

# -- gzip --

run 0 0 "$gz"
same whole "gzip, a file"
input=$gz run 0 0 -
same whole "gzip, standard input"
"${prog[@]}" - < <(cat "$gz") > "$dir/out" || wrong "gzip, a pipe"
same whole "gzip, a pipe"
mkfifo "$dir/fifo"
cat "$gz" > "$dir/fifo" &
run 0 0 "$dir/fifo"
same whole "gzip, a FIFO"
run 0 0 "$gz" "$stream"
has out '^@prog\.lua:2, line 3: 160 14080 0$'
{ head -c 1000 "$stream" | gzip && tail -c +1001 "$stream" | gzip -1; } \
  > "$dir/two.gz"
run 0 0 "$dir/two.gz"
same whole "gzip, two members"
{ cat "$gz" && head -c 1000 /dev/zero; } > "$dir/padded.gz"
run 0 0 "$dir/padded.gz"
same whole "gzip, padded"

# A packed file that is cut, or broken, is reported up to there.
head -c 1000 "$gz" > "$dir/cut.gz"
run 1 1 "$dir/cut.gz"
has err ': offset [0-9]{4}: cannot be read on: byte 1000 of the gzip file: expected more of it, the file ends$'
has out '^HEAP SUMMARY$'
size=$(stat -c %s "$gz")
head -c $((size - 4)) "$gz" > "$dir/cut.gz"
run 1 1 "$dir/cut.gz"
same whole "gzip, without its last bytes"
{ head -c 1000 "$gz" && printf XXXXXXXX && tail -c +1009 "$gz"; } > "$dir/broken.gz"
run 1 1 "$dir/broken.gz"
has err ' of the gzip file: expected packed bytes, found [a-z]'
{ cat "$gz" && echo hello; } > "$dir/behind.gz"
run 1 1 "$dir/behind.gz"
has err ": byte $size of the gzip file: expected its end, found 0x68\$"
same whole "gzip, with more behind it"
for n in 2 10 15; do
  head -c "$n" "$gz" > "$dir/cut.gz"
  run 2 1 "$dir/cut.gz"
  has err "/cut\.gz: byte $n of the gzip file: expected more of it, the file ends\$"
done
gzip < /dev/null > "$dir/empty.gz"
run 2 1 "$dir/empty.gz"
has err 'expected a recording, the file is empty$'
gzip < "$gz" > "$dir/twice.gz"
run 2 1 "$dir/twice.gz"
has err 'expected a recording \(ljs\), this seems to be packed with gzip twice$'

# -- A bound of what is read, which is the same packed or not --

size=$(gzip -dc "$gz" | wc -c)
gzip -dc "$gz" > "$dir/plain"
for file in "$gz" "$dir/plain"; do
  run 0 0 --max-size="$size" "$file"
  same whole "as large as is permitted: $file"
  run 1 1 --max-size=$((size - 1)) "$file"
  has err "offset $((size - 1)): cannot be read on: it has more than the $((size - 1)) bytes of --max-size"
  run 2 1 --max-size=1 "$file"
done
run 64 1 --max-size=0 "$gz"

# -- zstd --

cpu_profile > "$dir/cpu.ljp"
run 0 0 "$dir/cpu.ljp"
cp "$dir/out" "$dir/cpu.txt"
base64 -d > "$dir/cpu.zst" << 'END'
KLUv/SRB5QEANANsanMQAAAAAIBsanBsamIQ3p55Th0AGAEABAUCaHp1YzQDAAAHQAwJZGVsaXZl
cmVkdQcCALhFtEoSAjpQ5w==
END
run 0 0 "$dir/cpu.zst"
same cpu.txt "zstd, a file"
input=$dir/cpu.zst run 0 0 -
same cpu.txt "zstd, standard input"
head -c 60 "$dir/cpu.zst" > "$dir/cut.zst"
run 2 1 "$dir/cut.zst"
has err ': byte 60 of the zstd file: expected more of it, the file ends$'
head -c 72 "$dir/cpu.zst" > "$dir/cut.zst"
run 1 1 "$dir/cut.zst"
has err ': byte 72 of the zstd file: expected more of it, the file ends$'
same cpu.txt "zstd, without its last byte"
# A bomb: much in few bytes. What it begins with is read.
if command -v zstd > /dev/null; then
  { zstd -qdc "$dir/cpu.zst" | head -c 60; yes ljb | head -c 400000000; } |
    zstd -q > "$dir/bomb.zst"
  run 1 1 "$dir/bomb.zst"
  has err 'more than 2048 times as large unpacked'
fi
if command -v zstd > /dev/null; then
  zstd -q --ultra -22 < "$stream" > "$dir/ultra.zst"
  run 0 0 "$dir/ultra.zst"
  same whole "zstd -22"
fi

# -- Memory --

# Packed zeros, and a window as large as may be, take what the manual says and
# no more. A program with sanitizers, or in an emulator, has no such limit.
limited() {
  (ulimit -v 262144 && run "$@" && exit "$failed")
}
if (ulimit -v 262144 && "${prog[@]}" --version > /dev/null 2>&1); then
  head -c 100000000 /dev/zero | gzip -1 > "$dir/zeros.gz"
  { gzip -1 < "$stream" && cat "$dir/zeros.gz"; } > "$dir/bomb.gz"
  limited 1 1 "$dir/bomb.gz" || failed=1
  has err 'expected the end of the stream behind its final byte$'
  # A frame that looks back 128 MiB: one block of zeros, and no end.
  printf '\x28\xb5\x2f\xfd\0\x88\x02\0\x10\0' > "$dir/window.zst"
  limited 2 1 "$dir/window.zst" || failed=1
  has err 'byte 10 of the zstd file: expected more of it, the file ends$|found 00 00 00$'
  printf '\x28\xb5\x2f\xfd\0\x90\x02\0\x10\0' > "$dir/window.zst"
  limited 2 1 "$dir/window.zst" || failed=1
  has err 'expected a window of at most 128 MiB, it is larger$'
fi

# -- Progress --

# Runs a command of the shell on a terminal of 60 columns. $dir/tty is all that
# was written to it, a line for each time it was drawn.
on_terminal() {
  script -qec "stty cols 60; $1" /dev/null < /dev/null > "$dir/raw"
  tr '\r' '\n' < "$dir/raw" > "$dir/tty"
}

# What is left on the terminal, when every line was written over the one before.
left() {
  awk -v RS='\r' '{
    line = $0 substr(line, length($0) + 1)
  } END { sub(/ +$/, "", line); sub(/\n+$/, "", line); print line }' "$dir/raw"
}

quoted=$(printf '%q ' "${prog[@]}")
slow="(head -c 1000 $stream; sleep 1.3; tail -c +1001 $stream)"
on_terminal "$slow | $quoted - > $dir/out"
same whole "on a terminal"
has tty '^standard input: 4\.[0-9]KiB, [0-9.]+KiB/s *$'
[ -z "$(left)" ] || wrong "progress is still there: $(left)"

# Of files it is known how much is left, of packed ones, too. Names do not
# make a line too long.
zcat "$fixtures/v3-prog.bin.gz" > "$dir/big"
cp "$fixtures/v3-prog.bin.gz" "$dir/a-long-name-of-forty-bytes-or-so.gz"
on_terminal "cd $dir; $slow > fifo & cd $dir; $quoted fifo big \
  a-long-name-of-forty-bytes-or-so.gz > out; wait"
has tty '^big: [0-9.]+KiB of 1\.3MiB, [0-9]+%, [0-9.]+[KMG]iB/s, [0-9]+ s left *$'
has tty '^a-long-name-of-forty-bytes-or-so\.gz: [0-9.]+KiB of 507'
[ -z "$(left)" ] || wrong "progress is still there: $(left)"
awk 'length($0) > 59 { exit 1 }' "$dir/tty" || wrong "a line is too long"

# A warning takes its place, and nothing is shown elsewhere or of what is short.
on_terminal "(head -c 1000 $stream; sleep 1.3; echo) | $quoted - > $dir/out"
left | grep ': standard input: killed or still recording' > /dev/null || wrong "no warning: $(left)"
before=${EPOCHREALTIME/[.,]/}
on_terminal "$quoted $stream > $dir/out"
[ $((${EPOCHREALTIME/[.,]/} - before)) -gt 500000 ] ||
  [ ! -s "$dir/tty" ] || wrong "progress of what takes no time"
(eval "$slow") | "${prog[@]}" - > "$dir/out" 2> "$dir/err" || wrong "slow"
[ ! -s "$dir/err" ] || wrong "progress in a pipe"

exit "$failed"
