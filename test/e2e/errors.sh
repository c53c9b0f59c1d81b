# What goes wrong: one line that helps, and an exit status.
# shellcheck shell=bash disable=SC2154,SC2034

# Usage: 64, whoever one is.
case_usage() {
  local arguments
  while read -r arguments; do
    # shellcheck disable=SC2086
    sysprof $arguments
    [ "$status" -eq 64 ] || fail "'$arguments': status $status, not 64"
    [ -s "$dir/err" ] || fail "'$arguments': says nothing"
  done << 'END'

-p
-p abc
-p 12x
-p 0
-p -5
-p 1.5
-p 0x10
-p 1e3
-p 4194305
-p 1 -F 0
-p 1 -F 99.5
-p 1 -F abc
-p 1 -F -3
-p 1 -d 0
-p 1 -d x
-p 1 -d nan
-p 1 --max-depth 0
-p 1 -e ticks
-p 1 --nonsense
-p 1 -U -K
-p 1 -a
-p 1 stray
--
END
}

# A number was meant for -p.
case_number() {
  sysprof 1234
  [ "$status" -eq 64 ] || fail "status $status, not 64"
  grep -q '1234 is no command; did you mean -p 1234?$' "$dir/err" ||
    fail "said: $(head -n 1 "$dir/err")"
}

# Numbers in messages are such as one can type.
case_numbers() {
  sysprof -p 0
  grep -q 'PID is a whole number from 1 to 4194304, not 0$' "$dir/err" ||
    fail "-p 0: $(cat "$dir/err")"
  sysprof -p 1 -F 1000000
  grep -q 'HZ is a whole number from 1 to 100000, not 1000000$' "$dir/err" ||
    fail "-F 1000000: $(cat "$dir/err")"
  sysprof -p 1 -d 1e10
  grep -q 'SECONDS is a number from 0.001 to 1000000000, not 1e10$' "$dir/err" ||
    fail "-d 1e10: $(cat "$dir/err")"
}

case_help() {
  local line
  sysprof --help
  [ "$status" -eq 0 ] || fail "--help: status $status"
  for line in Usage Examples 'Exit status'; do
    grep -qi "$line" "$dir/out" || fail "--help: nothing of $line"
  done
  [ ! -s "$dir/err" ] || fail "--help: on stderr"
  sysprof --version
  grep -qE '^lj-sysprof [0-9]+\.[0-9]+\.[0-9]+$' "$dir/out" || fail --version
}

case_no_such_process() {
  local gone
  need_bpf || return
  sleep 0 &
  gone=$!
  wait "$gone"
  sysprof -p "$gone" -d 1 -o "$dir/profile"
  refused 2 "no (such )?process.*$gone|$gone.*no such process"
  [ ! -s "$dir/profile" ] || fail "there is a profile of nobody"
}

case_not_luajit() {
  need_bpf || return
  sleep 60 &
  target=$!
  started+=("$target")
  sysprof -p "$target" -d 1 -o "$dir/profile"
  refused 2 'luajit'
  kill -0 "$target" || fail "the target is gone"
  grep -q '^State:.*[SR]' "/proc/$target/status" || fail "it was left stopped"
}

# A thread of the kernel has no memory at all.
case_kernel_thread() {
  need_bpf || return
  sysprof -p 2 -d 1 -o "$dir/profile"
  refused 2 'luajit|kernel'
}

# A user without rights: what is missing is named.
case_no_permission() {
  if [ "$(id -u)" -ne 0 ]; then
    skip "needs root, to be somebody else"
    return
  fi
  cp "$sysprof" "$dir/lj-sysprof"
  chmod 755 "$dir/lj-sysprof"
  mkdir -m 777 "$dir/nobody"
  launch "$luajit" on split 3 || return
  status=0
  setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/lj-sysprof" \
    -p "$target" -d 1 -o "$dir/nobody/profile" > "$dir/out" 2> "$dir/err" ||
    status=$?
  refused 2 'CAP_|root|perf_event_paranoid|unprivileged_bpf'
  go
  target_well
}

case_cannot_write() {
  need_bpf || return
  launch "$luajit" on split 1 || return
  sysprof -p "$target" -d 1 -o "$dir/none/profile"
  refused 2 '/none/profile: No such file or directory'
  sysprof -p "$target" -d 1 -f --native -o "$dir"
  refused 2 'Is a directory'
  sysprof_start -p "$target" -F 999 -o /dev/full || return
  go
  target_well
  sysprof_ended 2
  grep -q 'No space left' "$dir/err" || fail "a full disk: $(cat "$dir/err")"
}

case_command_missing() {
  need_bpf || return
  sysprof -f --native -o "$dir/folded" -- "$dir/missing"
  refused 2 'missing: No such file or directory'
  [ ! -s "$dir/folded" ] || fail "there is a profile of nothing"
}
