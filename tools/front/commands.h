/*
** The commands of ljprof. Each gets its own arguments: ARGV[0] is its name,
** with that of the program. Returns the exit status.
*/

#ifndef FT_COMMANDS_H
#define FT_COMMANDS_H

/* Orders for a process that records with the option control. */
int ft_control(int argc, char **argv);

/* What two recordings differ in: text, or a page. */
int ft_diff(int argc, char **argv);

/* Who keeps memory, by a heap dump: text, or a page. */
int ft_heap(int argc, char **argv);

/* What is in recordings: text, or a page. */
int ft_report(int argc, char **argv);

/* Records a command and makes a page. */
int ft_run(int argc, char **argv);

/* The stacks of all threads of processes, now. */
int ft_stacks(int argc, char **argv);

/* Lua lines, live. */
int ft_top(int argc, char **argv);

#endif
