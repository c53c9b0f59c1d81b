# Memory and CPU time of one program, recorded at once and read as one report.
# shellcheck shell=bash disable=SC2154,SC2034

# Every line of joint/work.lua must have its CPU time, and exactly its memory. All of
# that is known of this very run: to record costs time, too.
joint() {
  rm -f "$dir/mem.ljm"
  status=0
  JOINT_OUT=$dir/mem.ljm "$sysprof" -F 999 -o "$dir/cpu.ljp" -- "$luajit" \
    "-j$1" "$e2e/joint/work.lua" 6.3 > "$dir/truth" 2> "$dir/err" || status=$?
  [ "$status" -eq 0 ] || fail "status $status: $(cat "$dir/err")"
  books_closed
  "$build/bin/lj-parse-memprof" --view=lines --min=0 --format=csv \
    "$dir/mem.ljm" "$dir/cpu.ljp" > "$dir/csv" ||
    fail "lj-parse-memprof: status $?"
  "$luajit" "$e2e/joint/judge.lua" "$dir/truth" "$dir/csv" || {
    fail "the report is not as it must be"
    cat "$dir/err"
    "$build/bin/lj-parse-memprof" --view=callers --metric=allocations \
      --focus='joint/work[.]lua' "$dir/mem.ljm" | head -n 40
    "$build/bin/lj-parse-memprof" --view=types --sort=bytes "$dir/mem.ljm"
  }
}

case_jit_on() {
  joint on
}

case_jit_off() {
  joint off
}

# A function that matches $1 must be $2 rows, each with samples and with
# allocations.
joint_rows() {
  awk -F, -v name="$1" -v want="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["name"] ~ name && $at["allocations"] > 0 && $at["total"] > 0 { n++ }
    $at["name"] ~ name && $at["total"] + $at["allocations"] > 0 { all++ }
    END { exit n != want || all != want }' "$dir/csv" ||
    fail "not $2 rows of $1: $(grep -E "${1//[\^\$]/}" "$dir/csv")"
}

# What has no line is one row, too: C functions and stripped code.
case_names() {
  local lfs=$build/stock/lua-filesystem/usr/lib/x86_64-linux-gnu/lua/5.1 jit files
  stock lua-filesystem || return
  [ -L "$lfs/lfs.so" ] || fail "$lfs/lfs.so is no link"
  (cd "$e2e/joint" && LUA_PATH="$(echo "$build"/share/luajit-2.1*)/?.lua" \
    "$luajit" -b bare.lua "$dir/bare.bc") || fail "luajit -b: status $?"
  for jit in on off; do
    rm -f "$dir/mem.ljm"
    status=0
    LUA_CPATH="$lfs/?.so;$build/test/lua/?.so" "$sysprof" -F 999 \
      -o "$dir/cpu.ljp" -- "$luajit" "-j$jit" "$e2e/joint/names.lua" \
      "$dir/mem.ljm" "$dir/bare.bc" > "$dir/truth" 2> "$dir/err" || status=$?
    [ "$status" -eq 0 ] || fail "status $status: $(cat "$dir/err")"
    for files in "mem.ljm cpu.ljp" "cpu.ljp mem.ljm"; do
      # shellcheck disable=SC2086 # These are two files.
      (cd "$dir" && "$build/bin/lj-parse-memprof" --view=functions --min=0 \
        --native --format=csv $files > csv) || fail "lj-parse-memprof: status $?"
      joint_rows '^lfs[.]attributes$' 1
      joint_rows '^outer[.]api[.]table$' 1
      joint_rows '^string[.]rep$' 1
      joint_rows 'bare[.]bc:0#[0-9a-f]+$' 2
    done
  done
}
