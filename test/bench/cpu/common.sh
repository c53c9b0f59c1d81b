# What scripts that run programs under a profiler share. They set `build`, a
# build tree, and `dir`, a scratch directory; `here` is this folder.
# shellcheck shell=bash disable=SC2154,SC2034

export LC_ALL=C # Decimals of awk.
sysprof=${LJ_SYSPROF:-$build/bin/lj-sysprof}
luajit=$build/bin/luajit

# Compiles what programs need: the module, also under the name of the one that
# is loaded late, and the host, which takes any libluajit-5.1.so.2.
compile_helpers() {
  local flags=(-O2 -g -Wall -Wextra -Werror -I "$build/include/luajit-2.1")
  "${CC:-cc}" "${flags[@]}" -fPIC -shared -o "$dir/cbench.so" "$here/cbench.c"
  cp "$dir/cbench.so" "$dir/late.so"
  "${CC:-cc}" "${flags[@]}" -o "$dir/host" "$here/host.c" -L "$build/lib" \
    -lluajit-5.1 -lpthread
  local share
  share=$(echo "$build"/share/luajit-*)
  export LUA_PATH="$here/?.lua;$here/programs/?.lua;$share/?.lua;;" LUA_CPATH="$dir/?.so;;"
}

# Prints the outermost functions of ELF files, for score.lua: those whose
# return address is undefined by their unwind table.
outermost() {
  local file
  for file; do
    { readelf -WwF "$file" 2> /dev/null || :; } | awk -v module="${file##*/}" '
      /^Contents of/ { split("", undefined) }
      / CIE / { cie = $1; pc[2] = "" }
      / FDE / {
        split($NF, pc, /=|\.\./)
        sub(/.*cie=/, "")
        if ($1 in undefined) { print module, pc[2], pc[3]; pc[2] = "" }
      }
      $NF == "u" && NF > 2 && $1 ~ /^[0-9a-f]+$/ {
        if (pc[2] != "") print module, pc[2], pc[3]
        else undefined[cie] = 1
        pc[2] = ""
      }'
  done
}

# Starts a program: "start_target BINARY JIT PROGRAM SECONDS". BINARY is a
# luajit or a folder with a libluajit-5.1.so.2 (the only one for vms), JIT is on
# or off. Sets `target` to its process, which waits for go(); what it prints is
# in $dir/truth. Programs are in `programs_in`, if not in programs/.
start_target() {
  local binary=$1 jit=$2 program=$3 seconds=$4 threads=0
  local -a command
  [ "$program" != vms ] || threads=8
  if [ -d "$binary" ]; then
    command=(env "LD_LIBRARY_PATH=$binary" "$dir/host" "$threads")
    [ "$jit" = on ] || command=(env HOST_JIT_OFF=1 "${command[@]}")
  else
    command=("$binary" "-j$jit")
  fi
  rm -f "$dir/go"
  mkfifo "$dir/go"
  TRUTH_GO=1 "${command[@]}" "${programs_in:-$here/programs}/$program.lua" "$seconds" \
    < "$dir/go" > "$dir/truth" 2> "$dir/target.err" &
  target=$!
  exec 9> "$dir/go"
  for _ in {1..600}; do
    ! grep -q '^truth ready' "$dir/truth" || return 0
    kill -0 "$target" 2> /dev/null || break
    sleep 0.05
  done
  echo "$program did not start: $(tail -n 1 "$dir/target.err")" >&2
  exec 9>&-
  return 1
}

# Lets the program begin what is measured.
go() {
  echo >&9
  exec 9>&-
}

# Waits until a profiler samples: it has opened events of the kernel, or attached
# a program to a tracepoint, and had half a second to enable them. Fails if it
# ends or does not get so far.
await_profiler() {
  local profiler=$1
  for _ in {1..200}; do
    if find "/proc/$profiler/fd" -lname 'anon_inode:*perf_event*' \
      -o -lname 'anon_inode:bpf_link' 2> /dev/null | grep . > /dev/null; then
      sleep 0.5
      return 0
    fi
    kill -0 "$profiler" 2> /dev/null || break
    sleep 0.05
  done
  return 1
}

# Waits for a process that should end by itself; asks it to after 200 seconds,
# and then makes it. Sets `status`.
finish() {
  local process=$1 i
  for ((i = 0; i < 2300; i++)); do
    kill -0 "$process" 2> /dev/null || break
    [ "$i" -ne 2000 ] || kill -INT "$process"
    sleep 0.1
  done
  kill -KILL "$process" 2> /dev/null || :
  status=0
  wait "$process" || status=$?
}

# What `perf script -F ip,sym,dso` prints, as folded stacks of our kind.
fold_perf() {
  awk '
    function flush_stack() {
      if (stack != "") count[stack]++
      stack = ""
    }
    NF == 0 { flush_stack(); next }
    {
      module = $NF
      gsub(/^\(|\)$/, "", module)
      sub(/.*\//, "", module)
      symbol = $2
      for (i = 3; i < NF; i++) symbol = symbol " " $i
      if (module ~ /^\[(kernel|guest)/) frame = symbol "_[k]"
      else if (symbol == "[unknown]") frame = "[" module "+0x" $1 "]"
      else frame = symbol " (" module ")"
      gsub(/;/, ":", frame)
      stack = stack == "" ? frame : frame ";" stack
    }
    END { flush_stack(); for (s in count) print s, count[s] }'
}
