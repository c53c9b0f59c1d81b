/*
** Reading of foreign ELF files by other processes, which can do nothing else.
*/

#ifndef LS_PARSER_H
#define LS_PARSER_H

#include "learn.h"

/* Milliseconds that one file may take. */
#define LS_PARSER_MS 10000

typedef struct LsParser LsParser;

/* Called every few milliseconds while a file is read, with CTX. Not 0: nobody
** waits for the file any more.
*/
typedef int LsParserIdle(void *ctx);

/* Start the process that makes others; early, as it has what this one has until
** then. NULL and errno on failure. The caller ends it by ls_parser_end.
*/
LsParser *ls_parser_start(void);

/* Call IDLE, or nothing if it is NULL, from here on. */
void ls_parser_while(LsParser *p, LsParserIdle *idle, void *ctx);

/* End all processes. P may be NULL. */
void ls_parser_end(LsParser *p);

/* Learn all of the file that FD reads, which is at PATH in the directory ROOT,
** "" if that is the root of this process. With P it is read by another process,
** and without by this one. The caller frees *OUT. Returns 0, or -1 and errno:
** ENOEXEC if it is no ELF file for x86-64, ETIMEDOUT if it took too long,
** ECANCELED if IDLE said so, EPROTO if the other process has ended. *CPU gets
** the nanoseconds of CPU time that the other process says it has taken, which
** one that a file has taken over may lie about; UINT64_MAX if it did not say.
*/
int ls_parser_learn(LsParser *p, int fd, const char *root, const char *path,
                    LsLearned *out, uint64_t *cpu);

/* Whether the code in the file that FD reads looks like a VM's, from the
** mapping at OFFSET on. Returns 1, 0, or -1 and errno as ls_parser_learn.
*/
int ls_parser_suspect(LsParser *p, int fd, uint64_t offset);

#endif
