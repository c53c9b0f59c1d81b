# Completion of lj-sysprof's command line in fish.
#
# The program itself knows its options: --help has them, a line for each.

function __lj_sysprof_options
  lj-sysprof --help 2>/dev/null |
    sed -nE 's/^ {1,6}(-., +)?(--[a-z-]+)(\[?=[A-Z=]+\]?)?( .*)?$/\2\3/p' |
    sed 's/[=[].*//'
end

complete -c lj-sysprof -n 'string match -q -- "-*" (commandline -ct)' \
  -f -a '(__lj_sysprof_options)'
complete -c lj-sysprof -s p -l pid -x -a '(__fish_complete_pids)'
complete -c lj-sysprof -l comm -x -a "(ps -eo comm= | tr ' ' '?' | sort -u)"
complete -c lj-sysprof -l cgroup -x \
  -a "(sed -n 's/^0:://p' /proc/[0-9]*/cgroup 2>/dev/null | sort -u)"
complete -c lj-sysprof -s e -l event -x -a 'cpu-clock cycles tick'
complete -c lj-sysprof -s o -l output -r
