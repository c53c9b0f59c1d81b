# Completion of ljprof's command line in fish.
#
# The program itself knows its commands and their options: --help has them.

function __ljprof_commands
  ljprof --help 2>/dev/null | sed -nE 's/^  ([a-z]+)  .*/\1/p'
end

# The long options of the command on the command line.
function __ljprof_options
  set -l words (commandline -opc)
  begin
    ljprof $words[2] --help
    if contains -- $words[2] report diff heap
      lj-parse-memprof --help
    end
  end 2>/dev/null |
    sed -nE 's/^ {1,6}(-., +)?(--[a-z-]+)(\[?=[A-Z=]+\]?)?( .*)?$/\2\3/p' |
    sed 's/[=[].*//'
end

complete -c ljprof -n __fish_use_subcommand -x -a '(__ljprof_commands)'
complete -c ljprof -n '__fish_seen_subcommand_from help' -x \
  -a '(__ljprof_commands)'
complete -c ljprof -n 'string match -q -- "-*" (commandline -ct)' \
  -n 'not __fish_use_subcommand' -f -a '(__ljprof_options)'
complete -c ljprof -n '__fish_seen_subcommand_from stacks top' -s p -l pid -x \
  -a '(__fish_complete_pids)'
complete -c ljprof -n '__fish_seen_subcommand_from top' -s s -l sort -x \
  -a 'self total name bytes'
complete -c ljprof -n '__fish_seen_subcommand_from top' -l memory -r
complete -c ljprof -n '__fish_seen_subcommand_from run' -x \
  -a '(__fish_complete_subcommand --fcs-skip=2)'
complete -c ljprof -n '__fish_seen_subcommand_from run report diff heap' \
  -s o -l output -r
complete -c ljprof -n '__fish_seen_subcommand_from run' -l user -x \
  -a '(__fish_complete_users)'
