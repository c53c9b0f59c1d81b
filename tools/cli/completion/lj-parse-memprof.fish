# Completion of lj-parse-memprof's command line in fish.
#
# The program itself knows its options: --help has them, a line for each.

function __lj_parse_memprof_options
  lj-parse-memprof --help 2>/dev/null |
    sed -nE 's/^ {1,6}(-., +)?(--[a-z-]+)(\[?=[A-Z=]+\]?)?( .*)?$/\2\3/p' |
    sed 's/[=[].*//'
end

complete -c lj-parse-memprof -n 'string match -q -- "-*" (commandline -ct)' \
  -f -a '(__lj_parse_memprof_options)'

# The values of option $argv[1]: what the program says of one that is none.
function __lj_parse_memprof_values
  lj-parse-memprof $argv[1]='?' /dev/null 2>&1 >/dev/null |
    sed -nE '1s/.*\((.*)\), not \?$/\1/p' | string split ', '
end

complete -c lj-parse-memprof -l source -x -a '(__fish_complete_directories)'
complete -c lj-parse-memprof -l label -x -a 'pid= comm= thread= tid= cgroup= host='

for option in view format metric sort
  complete -c lj-parse-memprof -l $option -x \
    -a "(__lj_parse_memprof_values --$option)"
end
