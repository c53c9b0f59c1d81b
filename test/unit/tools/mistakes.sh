#!/usr/bin/env bash
# Each mistake in mistakes.txt is answered by one line that says what to do:
#
#   mistakes.sh FIXTURES HEAPDUMP SYSPROF LJPROF PROGRAM...
#
# SYSPROF is lj-sysprof, LJPROF ljprof, or empty if it is not built.
set -uo pipefail

table=$(dirname "$(realpath "$0")")/mistakes.txt
heap=$2 sysprof=$3 ljprof=$4
# shellcheck source-path=SCRIPTDIR source=helpers.sh
. "$(dirname "$0")/helpers.sh" "$1" "${@:5}"
cd "$dir" || exit 1

zcat "$fixtures/v2-prog.bin.gz" > mem.ljm
zcat "$heap" > heap.ljd
cpu_profile > cpu.ljp
head -c 3000 mem.ljm > cut.ljm
echo hello > text
: > empty
echo '{}' > x.json
printf '\177ELF\2\1\1' > elf
printf '\n\4\10\1\20\2' > p.pb
printf 'PERFILE2xxxxxxxx' > perf.data
printf '\3757zXZ\0rest' > xz.bin
printf '<!DOCTYPE html>\n<p>x' > page.html
printf '\33LJ\2\0x' > bytecode.raw
echo 'print(1)' > app.lua

# A process without LuaJIT. Where BPF programs may not be loaded, what needs one
# is left out.
sleep 600 &
other=$!
trap 'kill $other; rm -rf "$dir"' EXIT
able=0
if [ -n "$sysprof" ]; then
  "$sysprof" -q --any -d 0.01 -p $other -o probe.ljp 2> probe && able=1
  [ $able = 1 ] || echo "Left out: $(head -n 1 probe)"
fi

n=0
while IFS='|' read -r status words want; do
  [[ $status == '#'* || -z $status ]] && continue
  read -r -a args <<< "$words"
  want=${want# }
  args=("${args[@]//\$\$/$other}")
  want=${want//\$\$/$other}
  command=("${prog[@]}")
  if [[ $status == root* ]]; then
    [ $able = 1 ] || continue
    status=${status#root }
  fi
  if [[ $status == sysprof* ]]; then
    [ -n "$sysprof" ] || continue
    command=("$sysprof") status=${status#sysprof }
  elif [[ $status == ljprof* ]]; then
    [ -n "$ljprof" ] || continue
    command=("${prog[@]::${#prog[@]}-1}" "$ljprof") status=${status#ljprof }
  fi
  "${command[@]}" "${args[@]}" > out 2> err < /dev/null
  got=$?
  line=$(head -n 1 err)
  # "(*)" is a list of names.
  pattern=${want//(\*)/$'\1'}
  pattern=$(printf '%s' "$pattern" | sed 's/[][\.*^$?+(){}|]/\\&/g')
  pattern=${pattern//$'\1'/\\([a-z, -]+\\)}
  if [ "$got" -ne "$status" ] || [ "$(wc -l < err)" -ne 1 ] ||
    ! [[ $line =~ ^lj[a-z-]+:\ $pattern$ ]]; then
    printf 'FAILED: %s (status %s)\n  %s\nnot\n  %s\n' "$words" "$got" \
      "$line" "$want"
    failed=1
  fi
  n=$((n + 1))
done < "$table"
[ "$n" -ge 60 ] || wrong "only $n mistakes"
echo "$n mistakes"

exit $failed
