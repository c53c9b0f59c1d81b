# ljprof run as root, with BPF: CPU time as well.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

prepare() {
  local said
  [ "$(id -u)" -eq 0 ] || skip "BPF is for root"
  said=$("$build/bin/lj-sysprof" -q -o "$dir/try.ljp" -- "$luajit" \
    -e 'for _ = 1, 3e8 do end' 2>&1) || skip "${said%%$'\n'*}"
}

# Both, in one page; samples are those of the command.
case_both() {
  ljprof run -- "$luajit" busy.lua
  said 0 'memory \(the recorder built in.* and CPU time' '^CPU: .* samples' \
    '^ +[5-9][0-9]\.[0-9]% of CPU time.*burn, busy.lua:6' '^Memory: '
  [ "$(cat ../out)" = "done" ] || fail "$(cat ../out)"
  [ -e busy.ljprof/cpu.ljp ] || fail "$(ls busy.ljprof)"
  "$ljprof" report -o again.html busy.ljprof 2> ../err || fail "$(cat ../err)"
}

# CPU alone, of a child of a child; the command's status is that of the shell.
case_children() {
  ljprof run --cpu -F 499 -o x.html -- sh -c '"$0" busy.lua; exit 9' "$luajit"
  said 9 'recording CPU time \(499 samples' 'burn, busy.lua:6'
  [ "$(ls x.ljprof)" = cpu.ljp ] || fail "$(ls x.ljprof)"
}

# Root samples, somebody else does the rest.
case_user() {
  local ljprof=$PWD/bin/ljprof
  chmod 777 .
  # That user may not be let in where the build is.
  install -D -m 755 -t bin "$build"/bin/{ljprof,lj-parse-memprof,lj-sysprof,luajit}
  sed -i '1s/.*/os.execute("id -un")/' busy.lua
  ljprof run --user=nobody -- bin/luajit busy.lua
  said 0 '^CPU: ' '^Memory: ' '^Page: busy.html'
  [ "$(cat ../out)" = $'nobody\ndone' ] || fail "$(cat ../out)"
  [ -z "$(find busy.* ! -user nobody ! -name busy.lua)" ] || fail "$(ls -lR)"
  ljprof run --user=nosuchuser true
  said 64 'there is no user nosuchuser'
}

# No LuaJIT ran. Which of both is said depends on how soon it was over.
case_nothing() {
  ljprof run -q sh -c 'exit 0'
  said 2 'no CPU profile: (no LuaJIT was seen|.*sh ended before the first sample)' \
    'nothing was recorded'
}

# On a terminal: Ctrl-C is for the command, once; then comes the page.
case_terminal() {
  timeout 60 python3 "$here/terminal.py" "$ljprof" "$luajit" 2> ../err ||
    fail "$(tail -n 3 ../err)"
  [ "$(echo endless.ljprof/*.lj[mp] | wc -w)" -eq 2 ] || fail "$(ls endless.ljprof)"
}

# --expect of lj-sysprof.
case_expect() {
  local sysprof=$build/bin/lj-sysprof
  status=0
  "$sysprof" --expect=/bin/true -- true 2> ../err || status=$?
  said 64 'needs one -p PID'
  status=0
  "$sysprof" --expect=/bin/true -p $$ -o - > ../out 2> ../err || status=$?
  said 64 'has no -f'
}
