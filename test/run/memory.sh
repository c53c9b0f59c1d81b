# ljprof run without privileges: memory, and why there is no CPU time.
# shellcheck shell=bash disable=SC2154,SC2034,SC2016

prepare() {
  "$luajit" -e 'os.exit(misc and misc.memprof and 0 or 1)' ||
    skip "this LuaJIT has no recorder"
  if [ "$(id -u)" -eq 0 ]; then
    limited=(setpriv --bounding-set=-all --inh-caps=-all --)
  fi
}

# The recorder that is built in. Arguments and the exit status are the command's.
case_built_in() {
  STATUS=3 ljprof run -- "$luajit" app.lua a 'b c'
  said 3 'CPU time is left out: (not permitted|cannot run lj-sysprof)' 'memory \(the recorder built in' \
    '^Memory: .* events' '^Page: app.html' '^Recordings: app.ljprof'
  [ "$(cat ../out)" = $'2\ta\tb c' ] || fail "$(cat ../out)"
  recorded app
  [ -z "$(compgen -G 'app.ljprof/*.ljp')" ] || fail "$(ls app.ljprof)"
}

# Through a shell, which starts two of them: names with blanks, twice.
case_shell() {
  mkdir 'a b'
  ljprof run -q --memory -o 'a b/x y.html' -- \
    sh -c '"$0" app.lua; "$0" app.lua; exit 5' "$luajit"
  said 5
  [ ! -s ../err ] || fail "not quiet: $(cat ../err)"
  [ "$(find 'a b/x y.ljprof' -name '*.ljm' | wc -l)" -eq 2 ] ||
    fail "$(ls 'a b/x y.ljprof')"
  [ "$(allocations 'a b/x y.ljprof' 'app.lua:0, line 4')" -ge 10000 ] ||
    fail 'both are not added up'
}

# Nothing that exists is destroyed.
case_kept() {
  echo mine > app.html
  mkdir app.ljprof
  echo mine > app.ljprof/x.ljm
  ljprof run -q --memory "$luajit" app.lua
  said 0
  recorded app.2
  ljprof run -q --memory -o app.html "$luajit" app.lua
  said 0
  [ "$(cat app.html.old app.ljprof/x.ljm)" = $'mine\nmine' ] || fail "$(ls -R)"
  recorded app.2
  [ -d app.3.ljprof ] || fail "$(ls)"
  ln -s app.html link.html
  ljprof run -o link.html "$luajit" app.lua
  said 64 'link.html is no regular file'
}

# LJPROF cannot name such a folder: recordings go elsewhere, which is said.
case_comma() {
  local folder
  mkdir 'a,b%p'
  cd 'a,b%p' || return
  TMPDIR=$dir timeout 60 "$ljprof" run --memory "$luajit" ../app.lua > ../../out \
    2> ../../err
  cd ..
  folder=$(sed -n 's/^Recordings: //p' ../err)
  [[ $folder == "$dir"/ljprof-* ]] || fail "$(cat ../err)"
  [ "$(stat -c %a "$folder")" = 700 ] || fail "$(ls -ld "$folder")"
  [ "$(allocations "$folder" 'app.lua:0, line 4')" -ge 5000 ] || fail "$folder"
  [ "$(ls 'a,b%p')" = app.html ] || fail "$(ls 'a,b%p')"
}

# A signal to ljprof is one to the command; what was recorded is there. With
# SIGKILL, too.
case_signal() {
  local signal pid
  mkfifo up
  for signal in TERM USR1 KILL; do
    "$ljprof" run --memory -o "$signal.html" -- sh -c \
      'echo $$ > pid; ulimit -t 20; exec "$0" endless.lua' "$luajit" > up 2> ../err &
    pid=$!
    read -r -t 20 < up || fail "$signal: it does not run"
    [ "$signal" != KILL ] || pid=$(cat pid)
    kill "-$signal" "$pid"
    status=0
    wait "$!" || status=$?
    said $((128 + $(kill -l "$signal"))) '^Page: '
    [[ $(allocations "$signal.ljprof" 'endless.lua:0, line 5') -ge 10000 ]] ||
      fail "$signal: nothing recorded"
  done
}

# What is wrong is said in one line, and nothing is left behind.
case_errors() {
  ljprof run nosuchprogram
  said 127 'cannot run nosuchprogram: there is no such program'
  ljprof run app.lua
  said 127 'did you mean ljprof run luajit app.lua'
  ljprof run ./busy.lua
  said 126 'did you mean ljprof run luajit ./busy.lua'
  ljprof run .
  said 126 'cannot run .: Permission denied'
  ljprof run
  said 64 'a COMMAND is needed'
  ljprof run --cpuu true
  said 64 'did you mean --cpu'
  ljprof rum true
  said 64 'did you mean run'
  ljprof run --sample=1x true
  said 64 'BYTES is a number'
  ljprof run -o nowhere/app.html "$luajit" app.lua
  said 2 'cannot make the folder nowhere/app.ljprof'
  ljprof run --cpu "$luajit" app.lua
  said 2 'CPU time is left out: (not permitted|cannot run lj-sysprof)'
  [ ! -s ../out ] || fail 'it has run'
  ljprof run -q false
  said 1 'no memory was recorded: .*/false has started no LuaJIT'
  ljprof run -q true
  said 2 'nothing was recorded'
  [ "$(echo *)" = 'app.lua busy.lua endless.lua' ] || fail "left: $(ls)"
}

# Text and pages of what was recorded; folders or files.
case_report() {
  ljprof run -q --memory -o old.html "$luajit" app.lua
  sed -i 's/5000/7000/' app.lua
  ljprof run -q --memory --stack=0 -o new.html "$luajit" app.lua
  ljprof report new.ljprof
  said 0
  grep -q '^Memory: ' ../out || fail "no summary: $(cat ../out)"
  grep -q 'app.lua:0, line 4: 70[0-9][0-9] ' ../out || fail "$(cat ../out)"
  ljprof diff --view=lines --format=csv old.ljprof new.ljprof/*.ljm
  said 0
  grep -q 'app.lua:0, line 4' ../out || fail "$(cat ../out)"
  ljprof diff -o diff.html old.ljprof new.ljprof
  said 0 '^Page: diff.html' 'app.lua:4'
  grep -q '</html>' diff.html || fail 'no page'
  ljprof diff old.ljprof
  said 64 'OLD and NEW are needed'
  ljprof report --veiw=lines new.ljprof
  said 64 'did you mean --view'
  ljprof report .
  said 64 'there are no recordings in the folder .'
}

case_heap() {
  "$luajit" -e 'assert(misc.memprof.dump("heap.ljd"))'
  ljprof heap heap.ljd
  said 0
  grep -q '^LEAK SUSPECTS' ../out || fail "$(cat ../out)"
  ljprof heap --output heap.html heap.ljd
  said 0 '^Page: heap.html'
  said 0 '^LEAK SUSPECTS'
  grep -q '</html>' heap.html || fail 'no page'
  "$luajit" -e 'big = {} for i = 1, 1000 do big[i] = {i} end
    assert(misc.memprof.dump("new.ljd"))'
  ljprof diff -o changes.html heap.ljd new.ljd
  said 0 'is kept by _G.big, a table, list of tables, which is new'
  grep -q '"base":\["heap.ljd"\]' changes.html || fail 'no page of changes'
  ljprof heap app.ljm
  said 64 'did you mean ljprof report app.ljm'
  ljprof heap 4711
  said 64 'misc.memprof.dump'
}

# The page is opened by what the desktop has.
case_open() {
  mkdir bin
  printf '#!/bin/sh\necho "$@" > opened\n' > bin/xdg-open
  chmod +x bin/xdg-open
  PATH=$PWD/bin:$PATH ljprof run -q --memory --open "$luajit" app.lua
  said 0
  [ "$(cat opened)" = "$(realpath app.html)" ] || fail "$(cat opened)"
  printf '#!/bin/sh\nexit 3\n' > bin/xdg-open
  PATH=$PWD/bin:$PATH ljprof report -o r.html --open app.ljprof
  said 0 'cannot open r.html by xdg-open'
}
