# Completion of lj-parse-memprof's command line in bash.
#
# The program itself knows its options and what they take: --help has the
# former, and what it says of a value that is none has the latter.

# All long options, as --help has them: --view=VIEW.
_lj_parse_memprof_options()
{
  "$1" --help 2> /dev/null |
    sed -nE 's/^ {1,6}(-., +)?(--[a-z-]+)(\[?=[A-Z=]+\]?)?( .*)?$/\2\3/p'
}

# The values of option $2, beside the options behind it.
_lj_parse_memprof_values()
{
  "$1" "${@:3}" "$2=?" /dev/null 2>&1 > /dev/null |
    sed -nE '1s/.*\((.*)\), not \?$/\1/p' | tr -d ,
}

_lj_parse_memprof()
{
  local cur=${COMP_WORDS[COMP_CWORD]} name='' word i others=()
  # "--view=tree" is three words, or one.
  if [[ $cur == = ]]; then
    name=${COMP_WORDS[COMP_CWORD - 1]} cur=
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    name=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == -* ]]; then
    name=${COMP_WORDS[COMP_CWORD - 1]}
    # An option without a value, or the value is there: no value comes.
    _lj_parse_memprof_options "$1" | grep -q -- "^$name=" || name=
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --view=* | --format=*) others+=("${COMP_WORDS[i]}") ;;
      --view | --format)
        word=${COMP_WORDS[i + 1]}
        [[ $word == = ]] && word=${COMP_WORDS[i + 2]}
        [[ ${COMP_WORDS[i]} != "$name" ]] && others+=("${COMP_WORDS[i]}=$word")
        ;;
    esac
  done
  COMPREPLY=()
  case $name in
    --view | --format | --metric | --sort | --columns)
      mapfile -t COMPREPLY < <(compgen -W \
        "$(_lj_parse_memprof_values "$1" "$name" "${others[@]}")" -- "$cur")
      ;;
    --color)
      mapfile -t COMPREPLY < <(compgen -W 'always never auto' -- "$cur")
      ;;
    --label)
      mapfile -t COMPREPLY < <(compgen -W \
        'pid= comm= thread= tid= cgroup= host=' -- "$cur")
      compopt -o nospace 2> /dev/null
      ;;
    --source)
      mapfile -t COMPREPLY < <(compgen -d -- "$cur")
      compopt -o filenames 2> /dev/null
      ;;
    '' | --output | --diff | --files-from | --diff-from)
      if [[ -z $name && $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_lj_parse_memprof_options "$1" |
          sed 's/\[.*//; s/=.*/=/')" -- "$cur")
        [[ ${COMPREPLY[*]} == *= ]] && compopt -o nospace 2> /dev/null
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        compopt -o filenames 2> /dev/null
      fi
      ;;
  esac
}

complete -F _lj_parse_memprof lj-parse-memprof
