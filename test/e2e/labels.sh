# Which process a sample is of: labels, filters, and what the sampler chooses.
# shellcheck shell=bash disable=SC2154,SC2034

# Starts a program that uses a CPU for three seconds, under the name $1, and waits
# until it runs.
spin() {
  cp "$luajit" "$dir/$1"
  rm -f "$dir/runs"
  RUNS=$dir/runs "$dir/$1" -e 'io.open(os.getenv("RUNS"), "w"):close()
    local t = os.clock() + 3
    while os.clock() < t do for i = 1, 1e4 do tostring(i) end end' &
  started+=($!)
  until [ -e "$dir/runs" ]; do sleep 0.01; done
}

report() {
  "$build/bin/lj-parse-memprof" --no-summary "$@" 2> "$dir/err"
}

# Samples of a report: the number in its first line.
samples() {
  report "$@" | sed -n '1s/^Samples: \([0-9]*\) .*/\1/p'
}

# Without the program's other tests: only what was started here.
case_comm() {
  local one two all n
  rm -f "$dir/all" "$dir/one"
  spin e2e-one
  spin e2e-two
  sysprof -F 499 -d 1 --comm 'e2e-*' -o "$dir/all"
  [ "$status" -eq 0 ] || fail "--comm: status $status: $(cat "$dir/err")"
  sysprof -F 499 -d 0.5 --comm e2e-one -o "$dir/one"
  report --view=processes --format=csv "$dir/all" | cut -d, -f 7 | sort |
    tr '\n' ' ' > "$dir/names"
  [ "$(cat "$dir/names")" = "e2e-one e2e-two name " ] ||
    fail "processes: $(cat "$dir/names")"
  all=$(samples "$dir/all")
  one=$(samples --comm=e2e-one "$dir/all")
  two=$(samples --label 'comm=*-two' "$dir/all")
  if [ "$one" -eq 0 ] || [ "$two" -eq 0 ] || [ $((one + two)) -ne "$all" ]; then
    fail "$one and $two samples of $all"
  fi
  report --comm=e2e-one "$dir/all" | grep -q "^Others: $two samples" ||
    fail "does not tell of $two others"
  n=$(samples "$dir/one")
  [ "$(samples --comm=e2e-one "$dir/all" "$dir/one")" -eq $((one + n)) ] ||
    fail "merged, there are not $one and $n"
  [ "$(samples --thread=e2e-two --pid="$(pgrep -x e2e-two)" "$dir/all")" \
    -eq "$two" ] || fail "--thread and --pid differ from --comm"
  [ "$(samples --label "host=$(uname -n)" "$dir/all")" -eq "$all" ] ||
    fail "not of this host"
}

# Which labels a profile of pprof has.
pprof_labels() {
  report --format=pprof -o "$dir/pprof" "$@" || fail "pprof: $(cat "$dir/err")"
  python3 - "$dir/pprof" << 'END'
import gzip, sys
data = gzip.open(sys.argv[1]).read()
print(*(k for k in ("comm", "host", "pid", "tid")
        if bytes([len(k)]) + k.encode() in data))
END
}

# Of memory, what all its processes have.
case_memory() {
  local name
  for name in one two; do
    "$luajit" -e "misc.memprof.start('$dir/$name.ljm')
      local t = {} for i = 1, 100 do t[i] = {} end misc.memprof.stop()"
  done
  name=$(pprof_labels "$dir/one.ljm")
  [ "$name" = "comm host pid" ] || fail "labels of one process: $name"
  name=$(pprof_labels "$dir/one.ljm" "$dir/two.ljm")
  [ "$name" = "comm host" ] || fail "labels of two processes: $name"
}

# A pattern that nothing matches, of both programs.
case_none() {
  spin e2e-one
  sysprof -d 0.3 --comm e2e-onne -f
  [ "$status" -eq 2 ] || fail "status $status"
  grep -q "comm=e2e-onne matched no process.*'e2e-one'" "$dir/err" ||
    fail "said: $(cat "$dir/err")"
  sysprof -F 499 -d 0.3 --comm e2e-one -o "$dir/all"
  report --comm=two "$dir/all" > "$dir/out"
  grep -q -e "--comm=two matches no sample; there is 'e2e-one'" "$dir/err" ||
    fail "said: $(cat "$dir/err")"
}

# The control group of one of them, where one can be made.
case_cgroup() {
  local group found=
  for group in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/memory; do
    group=$group/ljprof-e2e-$$
    mkdir "$group" 2> "$dir/err" || continue
    [ -e "$group/cgroup.procs" ] && found=$group && break
    rmdir "$group"
  done
  [ "$found" ] || {
    echo "not tried: no control group can be made"
    return
  }
  spin e2e-one
  spin e2e-two
  if echo "${started[-1]}" > "$found/cgroup.procs"; then
    sysprof -F 499 -d 1 --cgroup "ljprof-e2e-$$" -o "$dir/in"
    report --view=processes --format=csv "$dir/in" > "$dir/rows"
    [ "$(sed 1d "$dir/rows" | cut -d, -f 6,7)" = \
      "/ljprof-e2e-$$,e2e-two" ] ||
      fail "in the group: $(cat "$dir/rows" "$dir/err")"
    sysprof -F 499 -d 0.5 --comm 'e2e-*' -o "$dir/all"
    [ "$(samples --cgroup="ljprof-e2e-$$" "$dir/all")" -eq \
      "$(samples --comm=e2e-two "$dir/all")" ] ||
      fail "--cgroup is not --comm=e2e-two"
  else
    echo "not tried: no process can be moved to a control group"
  fi
  stop_all
  rmdir "$found"
}

# Threads that have ended when their samples are counted have their names.
case_brief() {
  local n
  cc -O1 -o "$dir/brief" "$e2e/programs/brief.c" -I"$build/include/luajit-2.1" \
    "$build/lib/libluajit-5.1.a" -lm -ldl -lpthread -Wl,-E ||
    { fail "brief.c"; return; }
  sysprof -F 499 -o "$dir/stream" -- "$dir/brief"
  [ "$status" -eq 0 ] || fail "status $status: $(cat "$dir/err")"
  n=$(report --view=threads --format=csv "$dir/stream" | grep -c 'brief-')
  [ "$n" -ge 36 ] || fail "$n of 40 names: $(report --view=threads "$dir/stream")"
}
