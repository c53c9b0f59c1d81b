#!/usr/bin/env bash
# What bash and zsh complete is what the program knows: options as --help has
# them, values as it accepts them.
set -uo pipefail

completion=$1
prog=("${@:2}") # Perhaps in an emulator.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# The shells find the program by its name.
{
  echo '#!/bin/sh'
  printf 'exec'
  printf " '%s'" "${prog[@]}"
  printf ' "$@"\n'
} > "$dir/lj-parse-memprof"
chmod +x "$dir/lj-parse-memprof"
PATH=$dir:$PATH
cd "$dir" || exit 1
touch 'a recording.ljm' mem.ljm

# What a bash of its own completes, a line for each; the words are as bash
# splits them.
complete_bash() {
  bash --norc -c '
    source "$0"
    function=$(complete -p lj-parse-memprof | sed "s/.*-F \([^ ]*\) .*/\1/")
    COMP_WORDS=(lj-parse-memprof "$@") COMP_CWORD=$#
    "$function" lj-parse-memprof
    printf "%s\n" "${COMPREPLY[@]}"' \
    "$completion/lj-parse-memprof.bash" "$@"
}

# The words $2 and on complete to the lines of $1.
completes() {
  local want=$1 got
  shift
  got=$(complete_bash "$@")
  if [ "$got" != "$want" ]; then
    printf 'FAILED: bash: %s\n%s\nnot:\n%s\n' "$*" "$got" "$want"
    failed=1
  fi
}

# -- bash --

# Options: all of them, each once, those with values with a '='.
"${prog[@]}" --usage | tr -d '\n' | sed 's/[][]/\n/g' |
  sed -nE 's/^ *(--[a-z-]+)(=.*)?$/\1\2/p' | sed 's/=.*/=/' | sort \
  > "$dir/usage"
complete_bash -- | sort > "$dir/options"
if ! diff "$dir/usage" "$dir/options" > "$dir/diff" ||
  [ "$(wc -l < "$dir/options")" -lt 15 ]; then
  echo 'FAILED: options of --usage, and completed:'
  cat "$dir/diff"
  failed=1
fi
completes --leak-only --le
completes --view= --vi
completes '' --nonsense

# Values: each is accepted by the program.
for option in view format metric columns; do
  complete_bash "--$option" = > "$dir/values"
  [ "$(wc -l < "$dir/values")" -ge 5 ] ||
    { echo "FAILED: few values of --$option"; failed=1; }
  while read -r value; do
    "${prog[@]}" "--$option=$value" "$dir/none" \
      > /dev/null 2> "$dir/err"
    grep -q "none: No such file" "$dir/err" ||
      { echo "FAILED: --$option=$value"; cat "$dir/err"; failed=1; }
  done < "$dir/values"
done
completes 'total
self
name' --view = tree --sort = ''
completes 'type' --view=types --sort t
completes 'tree' --view tr
completes 'callers' --view = ca
completes 'peak-objects
peak' -H --metric = pe
completes 'live-objects
live' --view=types --columns = li
completes 'comm=
cgroup=' --label = c
completes 'always
auto' --color = a
completes 'samples' --metric=live --metric = sa

# Files, also with blanks in their names; what takes other values has none.
completes 'a recording.ljm' a
completes 'mem.ljm' --diff = m
completes 'mem.ljm' -H m
completes 'mem.ljm' --top = 3 m
completes 'mem.ljm' --top=3 m
completes '' --top = m
completes '' --limit = m

# -- zsh --

# What the line $1 becomes with a tab behind it.
complete_zsh() {
  timeout 30 zsh -f << END
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PATH=\$PATH; fpath=($completion \\\$fpath); PS1='ready> '"
zpty -w shell "autoload -U compinit; compinit -u -D"
zpty -w shell "bindkey '^I' complete-word; PS1='re''ally> '"
zpty -r -m shell out '*really> *'
zpty -w -n shell '$1'\$'\t'
zpty -r -m shell out '*$2*' && print found
zpty -d shell
END
}

if command -v zsh > /dev/null; then
  while read -r line want; do
    line=${line//+/ }
    [ "$(complete_zsh "$line" "$want")" = found ] ||
      { echo "FAILED: zsh: $line: no $want"; failed=1; }
  done << 'END'
lj-parse-memprof+--leak --leak-only
lj-parse-memprof+--lim --limit
lj-parse-memprof+--view=ca --view=callers
lj-parse-memprof+--view=tree+--sort=to --sort=total
lj-parse-memprof+--metric=temporary-o temporary-objects
lj-parse-memprof+--format=fo --format=folded
lj-parse-memprof+me mem.ljm
END
else
  echo 'zsh is not installed: not tested'
fi

exit $failed
