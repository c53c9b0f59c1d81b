#!/usr/bin/env bash
# What bash, zsh and fish complete for lj-sysprof and ljprof is what the
# programs know: options as --usage has them.
#
#   completion_others.sh COMPLETIONS PROGRAM...
set -uo pipefail

completion=$1
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
for prog; do
  ln -s "$prog" "$dir/"
done
PATH=$dir:$PATH
cd "$dir" || exit 1
: > luarecord.ljm

complain() {
  printf 'FAILED: %s\n' "$*"
  failed=1
}

# All long options of a command: those with values end with '='.
usage() {
  "$@" --usage | tr -d '\n' | sed 's/[][]/\n/g' |
    sed -nE 's/^ *(--[a-z-]+)(=.*)?$/\1\2/p; s/^ *-.\|(--[a-z-]+)(=.*)?$/\1\2/p' |
    sed 's/=.*/=/' | sort
}

# shellcheck disable=SC2317 # By completes().
# What a bash of its own completes, a line for each.
complete_bash() {
  bash --norc -c '
    source "$0/$1.bash"
    function=$(complete -p "$1" | sed "s/.*-F \([^ ]*\) .*/\1/")
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    "$function" "$1"
    printf "%s\n" "${COMPREPLY[@]}"' "$completion" "$@"
}

# shellcheck disable=SC2317 # Likewise.
# What a fish completes: options, without what they mean.
complete_fish() {
  fish --no-config -c "
    source '$completion/$1.fish'
    complete -C '$*'" | cut -f 1
}

# All options of a command, in all shells.
options() {
  local shell
  usage "$@" > "$dir/usage"
  [ "$(wc -l < "$dir/usage")" -ge 4 ] || complain "few options: $*"
  for shell in bash fish; do
    command -v $shell > /dev/null || { echo "no $shell"; continue; }
    complete_$shell "$@" -- | grep -- '^--' | sort -u > "$dir/options"
    # In fish, values come behind a blank.
    [ $shell = bash ] || sed -i 's/=//' "$dir/usage"
    diff "$dir/usage" "$dir/options" > "$dir/diff" ||
      { complain "$shell: $*: --usage, and completed:"; cat "$dir/diff"; }
  done
}

# The words $3 and on complete to $2 in shell $1.
completes() {
  local shell=$1 want=$2 got
  shift 2
  command -v "$shell" > /dev/null || return 0
  got=$("complete_$shell" "$@" | tr '\n' ' ')
  [ "$got" = "$want" ] || complain "$shell: $*: $got, not $want"
}

# What the line $2 becomes with a tab behind it: has it $3?
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

zsh_completes() {
  command -v zsh > /dev/null || return 0
  [ "$(complete_zsh "$1" "$2")" = found ] || complain "zsh: $1: no $2"
}

if [ -e "$dir/lj-sysprof" ]; then
  options lj-sysprof
  completes bash 'tick ' lj-sysprof -e t
  completes bash 'cycles ' lj-sysprof --event = cy
  completes bash "$$ " lj-sysprof -p $$
  completes bash "$(cat /proc/$$/comm) " lj-sysprof --comm = \
    "$(head -c 4 /proc/$$/comm)"
  completes bash ' ' lj-sysprof x # Nothing.
  completes fish 'tick ' lj-sysprof -e t
  zsh_completes 'lj-sysprof --freq' --frequency
  zsh_completes 'lj-sysprof --event=cy' --event=cycles
fi
if [ -e "$dir/ljprof" ]; then
  options ljprof stacks
  options ljprof top
  options ljprof run
  completes bash '--sample= ' ljprof run --sa
  completes bash '--open ' ljprof diff --op
  completes bash 'nobody ' ljprof run --user = nobod
  completes bash 'luarecord.ljm ' ljprof report luar
  completes bash 'luarecord.ljm ' ljprof run -o app.html cat luar
  completes bash 'luarecord.ljm ' ljprof run --output = luar
  completes bash ' ' ljprof run cat --op # An option of cat.
  completes bash 'run ' ljprof ru
  completes bash 'stacks ' ljprof st
  completes bash 'top ' ljprof help t
  completes bash 'total ' ljprof top --sort = to
  completes bash "$$ " ljprof stacks -p $$
  completes fish 'stacks ' ljprof st
  completes fish 'total ' ljprof top -s to
  zsh_completes 'ljprof sta' stacks
  zsh_completes 'ljprof top --mem' --memory
  zsh_completes 'ljprof run --sam' --sample
  zsh_completes 'ljprof report luar' luarecord.ljm
fi
exit $failed
