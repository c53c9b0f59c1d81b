# Completion of ljprof's command line in bash.
#
# The program itself knows its commands and their options: --help has them.

# The commands, as --help has them.
_ljprof_commands()
{
  "$1" --help 2> /dev/null | sed -nE 's/^  ([a-z]+)  .*/\1/p'
}

# The long options of command $2: --pid=PID. Reports have those of
# lj-parse-memprof, too.
_ljprof_options()
{
  {
    "$1" "$2" --help
    [[ $2 != @(report|diff|heap) ]] || lj-parse-memprof --help
  } 2> /dev/null |
    sed -nE 's/^ {1,6}(-., +)?(--[a-z-]+)(\[?=[A-Z=]+\]?)?( .*)?$/\2\3/p'
}

# Where the command of "ljprof run" begins in COMP_WORDS, or where it would.
_ljprof_command()
{
  local i before=run
  for ((i = 2; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == [-=]* ||
      $before == @(=|-o|-F|--output|--frequency|--stack|--sample|--user) ]] || break
    before=${COMP_WORDS[i]}
  done
  echo "$i"
}

# Completes what is no option: commands, or files.
_ljprof_word()
{
  if [[ ${COMP_WORDS[1]} == run ]] && (($(_ljprof_command) == COMP_CWORD)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$1" | sort -u)
    [[ $1 != */* ]] || mapfile -t COMPREPLY < <(compgen -f -- "$1")
  elif [[ ${COMP_WORDS[1]} == @(run|report|diff|heap) ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$1")
    compopt -o filenames 2> /dev/null
  fi
}

_ljprof()
{
  local cur=${COMP_WORDS[COMP_CWORD]} name=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $cur == = ]]; then
    cur=
  elif [[ $name == = ]]; then
    name=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_ljprof_commands "$1")" -- "$cur")
    return
  fi
  [[ ${COMP_WORDS[1]} != run || $name != --memory ]] || name=
  case $name in
    -p | --pid)
      mapfile -t COMPREPLY < <(compgen -W "$(ps -eo pid=,args= |
        awk '$2 !~ /^\[/ { print $1 }')" -- "$cur")
      ;;
    -s | --sort)
      mapfile -t COMPREPLY < <(compgen -W 'self total name bytes' -- "$cur")
      ;;
    --user)
      mapfile -t COMPREPLY < <(compgen -u -- "$cur")
      ;;
    -o | --output | --memory)
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      compopt -o filenames 2> /dev/null
      ;;
    *)
      if [[ $cur != -* ]] || { [[ ${COMP_WORDS[1]} == run ]] &&
        (($(_ljprof_command) < COMP_CWORD)); }; then
        _ljprof_word "$cur"
        return
      fi
      mapfile -t COMPREPLY < <(compgen -W "$(_ljprof_options "$1" \
        "${COMP_WORDS[1]}" | sed 's/\[.*//; s/=.*/=/')" -- "$cur")
      [[ ${COMPREPLY[*]} == *= ]] && compopt -o nospace 2> /dev/null
      ;;
  esac
}

complete -F _ljprof ljprof
