# Completion of lj-sysprof's command line in bash.
#
# The program itself knows its options: --help has them.

# All long options, as --help has them: --pid=PID.
_lj_sysprof_options()
{
  "$1" --help 2> /dev/null |
    sed -nE 's/^ {1,6}(-., +)?(--[a-z-]+)(\[?=[A-Z=]+\]?)?( .*)?$/\2\3/p'
}

# The processes that may run LuaJIT: all that are not the kernel's.
_lj_sysprof_pids()
{
  ps -eo pid=,args= | awk '$2 !~ /^\[/ { print $1 }'
}

_lj_sysprof()
{
  local cur=${COMP_WORDS[COMP_CWORD]} name=${COMP_WORDS[COMP_CWORD - 1]} i
  # Behind -- is a command.
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      if ((i + 1 == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$cur")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        compopt -o filenames 2> /dev/null
      fi
      return
    fi
  done
  # "--event=tick" is three words, or one.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $name == = ]]; then
    name=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  case $name in
    -p | --pid)
      mapfile -t COMPREPLY < <(compgen -W "$(_lj_sysprof_pids)" -- "$cur")
      ;;
    --comm)
      mapfile -t COMPREPLY < <(compgen -W "$(ps -eo comm= | tr ' ' '?')" -- \
        "$cur" | sort -u)
      ;;
    --cgroup)
      mapfile -t COMPREPLY < <(compgen -W "$(sed -n 's/^0:://p' \
        /proc/[0-9]*/cgroup 2> /dev/null)" -- "$cur" | sort -u)
      ;;
    -e | --event)
      mapfile -t COMPREPLY < <(compgen -W 'cpu-clock cycles tick' -- "$cur")
      ;;
    -o | --output)
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      compopt -o filenames 2> /dev/null
      ;;
    *)
      [[ $cur == -* ]] || return
      mapfile -t COMPREPLY < <(compgen -W "$(_lj_sysprof_options "$1" |
        sed 's/\[.*//; s/=.*/=/')" -- "$cur")
      [[ ${COMPREPLY[*]} == *= ]] && compopt -o nospace 2> /dev/null
      ;;
  esac
}

complete -F _lj_sysprof lj-sysprof
