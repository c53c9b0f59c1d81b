/*
** What lj-sysprof and its processes that read files send each other: fixed
** messages, with descriptors beside them. What was learned of a file follows
** LS_MSG_LEARNED as LsPack has it.
*/

#ifndef LS_MESSAGES_H
#define LS_MESSAGES_H

#include <stdint.h>

enum {
  LS_MSG_READY, /* The process is confined; or VALUE is the error. */
  /* To the process that makes the others; each ends the one before. */
  LS_MSG_LEARN,   /* A file, and where to answer: learn all of it. */
  LS_MSG_SUSPECT, /* Likewise: does the code at VALUE look like a VM's? */
  LS_MSG_END,
  /* From the one that reads a file. */
  LS_MSG_DEBUG,   /* Open the file NAME with symbols: HOW, in the root. */
  LS_MSG_LEARNED, /* What follows; or VALUE is the error. CPU. */
  LS_MSG_ANSWER,  /* VALUE. */
  /* To it. */
  LS_MSG_FILE /* It is open; or VALUE is the error. */
};

#define LS_MSG_FDS 2

typedef struct LsMessage {
  uint32_t kind;   /* LS_MSG_* */
  uint32_t inroot; /* Not 0: in the root directory of a process. */
  uint32_t how;    /* An LsDebugHow. */
  uint32_t pad;
  uint64_t value;
  uint64_t cpu; /* Nanoseconds of CPU time that the process has taken. */
  char name[264];
} LsMessage;

/* Send *M and N descriptors to the socket TO. Returns 0, or -1 and errno. */
int ls_message_send(int to, const LsMessage *m, const int *fd, unsigned n);

/* Receive *M and as many descriptors from the socket FROM, with the FLAGS of
** recvmsg(); of those that do not come, FD gets -1. They are the caller's.
** Returns 1; 0 at the end, -1 and errno on failure.
*/
int ls_message_receive(int from, LsMessage *m, int fd[LS_MSG_FDS], int flags);

#endif
