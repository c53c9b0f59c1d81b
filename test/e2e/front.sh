# ljprof: what threads do that hang, and a live view.
# shellcheck shell=bash disable=SC2154,SC2034

ljprof=$build/bin/ljprof

# Starts hung.lua, which hangs in way $1, and waits until it does.
hang() {
  mkfifo "$dir/hangs" 2> /dev/null
  "$luajit" "$e2e/programs/hung.lua" "$1" > "$dir/hangs" 2> /dev/null < /dev/null &
  target=$!
  started+=("$target")
  read -r -t 20 < "$dir/hangs" || fail "hung.lua does not hang"
  sleep 0.1 # What it says is said before.
}

# The functions of the stack of process $1, innermost first.
functions() {
  awk -v pid="$1" '/^process / { mine = $2 == pid } mine' "$dir/out" |
    sed -nE 's/^  ([^ ]+) .*/\1/p' | tr '\n' ' '
}

# Blocked in C, in a pipe, in a coroutine; busy in interpreted code, in a trace.
case_hung() {
  local ways=(sleep pipe coroutine loop trace) pids=() i
  local stacks=('wait_for_upstream handler ways.sleep' 'run_job ways.pipe'
    'deep (function) coroutine.resume ways.coroutine'
    'quadratic ways.loop' 'tight ways.trace')
  for i in "${!ways[@]}"; do
    hang "${ways[i]}"
    pids+=("$target")
  done
  timeout 20 "$ljprof" stacks "${pids[@]}" > "$dir/out" 2> "$dir/err" ||
    fail "status $?: $(cat "$dir/err")"
  for i in "${!ways[@]}"; do
    [[ "$(functions "${pids[i]}")" == *"${stacks[i]} "* ]] ||
      fail "${ways[i]}: $(cat "$dir/out")"
    kill -0 "${pids[i]}" || fail "${ways[i]}: it has ended"
    grep -q '^State:.*T' "/proc/${pids[i]}/status" &&
      fail "${ways[i]}: it is stopped"
  done
}

# A blocked thread is where it was, and its system call goes on.
case_untouched() {
  local before after
  hang sleep
  before=$(grep ctxt_switches "/proc/$target/status")
  timeout 20 "$ljprof" stacks "$target" > "$dir/out" 2>&1 ||
    fail "$(cat "$dir/out")"
  after=$(grep ctxt_switches "/proc/$target/status")
  [ "$before" = "$after" ] || fail "it has run: $before, then $after"
}

# Threads: some wait, some run, one has no Lua. JSON has them all.
case_threads() {
  cc -O1 -o "$dir/threads" "$e2e/programs/threads.c" -I"$build/include/luajit-2.1" \
    "$build/lib/libluajit-5.1.a" -lm -ldl -lpthread -Wl,-E ||
    { fail "threads.c"; return; }
  mkfifo "$dir/ready"
  "$dir/threads" > "$dir/ready" < /dev/null &
  target=$!
  started+=("$target")
  read -r -t 20 < "$dir/ready" || fail "threads does not run"
  timeout 20 "$ljprof" stacks --json -p "$target" > "$dir/out" 2> "$dir/err" ||
    fail "status $?: $(cat "$dir/err")"
  python3 - "$dir/out" << 'END' || fail "$(cat "$dir/out")"
import json, sys
threads = json.load(open(sys.argv[1]))["processes"][0]["threads"]
assert len(threads) == 6, len(threads)
stacks = [[f["function"] for f in t["stack"]] for t in threads]
assert sum("spin" in s for s in stacks) == 2, stacks
assert sum("block" in s for s in stacks) == 2, stacks
assert sum(s == [] for s in stacks) == 2, stacks
for t in threads:
    for f in t["stack"]:
        assert f["kind"] != "lua" or f["line"] > 0, f
assert not any("error" in t or "incomplete" in t for t in threads), threads
END
}

# Of what there is nothing to show.
case_nothing() {
  status=0
  timeout 20 "$ljprof" stacks -p $$ > "$dir/out" 2> "$dir/err" || status=$?
  [ "$status" -eq 2 ] || fail "status $status of a shell"
  grep -q 'runs no LuaJIT' "$dir/err" || fail "$(cat "$dir/err")"
  status=0
  "$ljprof" stcks -p $$ > "$dir/out" 2> "$dir/err" || status=$?
  [ "$status" -eq 64 ] || fail "status $status of stcks"
  grep -q 'did you mean stacks?' "$dir/err" || fail "$(cat "$dir/err")"
}

# Pictures as text.
case_batch() {
  hang loop
  timeout 20 "$ljprof" top -p "$target" -b -n 2 -d 0.5 > "$dir/out" \
    2> "$dir/err" || fail "status $?: $(cat "$dir/err")"
  [ "$(grep -c '^process' "$dir/out")" -eq 2 ] || fail "$(cat "$dir/out")"
  grep -qE '^ *[0-9.]+ +[0-9.]+ +[0-9.]+  quadratic .*hung.lua:' "$dir/out" ||
    fail "$(cat "$dir/out")"
}

# Whether top has shown bytes of the line $1.
has_bytes() {
  grep -qE "^( *[0-9.]+){3} +[1-9][0-9.]*[KMG]?  $1\$" "$dir/out"
}

# Bytes of lines: of a file, and of code that is in none, as in nginx.conf.
case_memory() {
  cat > "$dir/holds.lua" << 'END'
assert(misc.memprof.start(arg[1], {buffer = 16384}))
kept = {}
local function spend()
  local stop = os.clock() + 0.02
  repeat until os.clock() > stop
end
local function keep(n)
  for i = 1, 500 do kept[n * 500 + i] = {i} end
  spend()
end
local inline = loadstring([[
  local n, spend = ...
  for i = 1, 500 do kept[-n * 500 - i] = {i} end
  spend()]], "=content_by_lua(nginx.conf:20)")
local n, deadline = 0, os.time() + 300
while os.time() < deadline do
  n = n + 1
  keep(n)
  inline(n, spend)
end
END
  "$luajit" "$dir/holds.lua" "$dir/holds.ljm" &
  target=$!
  started+=("$target")
  for _ in {1..600}; do
    [ ! -e "$dir/holds.ljm" ] || break
    sleep 0.1
  done
  "$ljprof" top -p "$target" -b -n 400 -d 0.5 -s bytes > "$dir/out" 2> "$dir/err" &
  started+=("$!")
  for _ in {1..600}; do
    ! has_bytes '.*holds.lua:8' ||
      ! has_bytes 'content_by_lua\(nginx.conf:20\):2' || return
    sleep 0.1
  done
  fail "no bytes of both: $(tail -n 30 "$dir/out")$(cat "$dir/err")"
}

# On a terminal: keys, its size, and how it is left.
case_terminal() {
  hang loop
  timeout 60 python3 "$e2e/programs/terminal.py" "$ljprof" "$target" 2> "$dir/err" ||
    fail "$(tail -n 3 "$dir/err")"
}
