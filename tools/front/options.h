/*
** What the command lines of all commands have in common.
*/

#ifndef FT_OPTIONS_H
#define FT_OPTIONS_H

#include <argp.h>
#include <sys/types.h>

/* Say in one line what is wrong with the command line, and end the program with
** FT_EXIT_USAGE.
*/
void ft_usage(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* The number ARG of a process. Ends the program if it is none. */
pid_t ft_option_pid(const char *arg);

/* A number from LEAST to MOST. WHAT names it. Ends the program if it
** is none.
*/
double ft_option_number(const char *arg, double least, double most,
                        const char *what);

/* The same of a whole number. */
unsigned ft_option_whole(const char *arg, unsigned least, unsigned most,
                         const char *what);

/* Parse a command line by ARGP into INPUT. Ends the program on --help and on
** errors.
*/
void ft_options_parse(const struct argp *argp, int argc, char **argv,
                      void *input);

/* The same if a command follows: what is behind its name is not parsed. */
void ft_options_command(const struct argp *argp, int argc, char **argv,
                        void *input);

#endif
