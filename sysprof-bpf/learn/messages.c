/*
** Messages with descriptors, through sockets.
*/

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "messages.h"

typedef union Control {
  struct cmsghdr align;
  char bytes[CMSG_SPACE(LS_MSG_FDS * sizeof(int))];
} Control;

int ls_message_send(int to, const LsMessage *m, const int *fd, unsigned n)
{
  struct iovec io = {(void *)m, sizeof(*m)};
  struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1};
  Control c;
  struct cmsghdr *cm;
  ssize_t sent;
  memset(&c, 0, sizeof(c));
  if (n) {
    h.msg_control = &c;
    h.msg_controllen = CMSG_SPACE(n * sizeof(int));
    cm = CMSG_FIRSTHDR(&h);
    cm->cmsg_level = SOL_SOCKET;
    cm->cmsg_type = SCM_RIGHTS;
    cm->cmsg_len = CMSG_LEN(n * sizeof(int));
    memcpy(CMSG_DATA(cm), fd, n * sizeof(int));
  }
  do
    sent = sendmsg(to, &h, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent == (ssize_t)sizeof(*m))
    return 0;
  if (sent >= 0)
    errno = EPIPE;
  return -1;
}

/* Take the descriptors that came. */
static void take_fds(struct msghdr *h, int fd[LS_MSG_FDS])
{
  struct cmsghdr *cm;
  for (cm = CMSG_FIRSTHDR(h); cm; cm = CMSG_NXTHDR(h, cm))
    if (cm->cmsg_level == SOL_SOCKET && cm->cmsg_type == SCM_RIGHTS)
      memcpy(fd, CMSG_DATA(cm), cm->cmsg_len - CMSG_LEN(0));
}

int ls_message_receive(int from, LsMessage *m, int fd[LS_MSG_FDS], int flags)
{
  struct iovec io = {m, sizeof(*m)};
  Control c;
  struct msghdr h = {.msg_iov = &io,
                     .msg_iovlen = 1,
                     .msg_control = &c,
                     .msg_controllen = sizeof(c)};
  ssize_t n;
  int i;
  memset(fd, -1, LS_MSG_FDS * sizeof(*fd));
  do
    n = recvmsg(from, &h, flags | MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n > 0)
    take_fds(&h, fd);
  if (n <= 0 || n == (ssize_t)sizeof(*m))
    return n < 0 ? -1 : n > 0;
  for (i = 0; i < LS_MSG_FDS; i++)
    if (fd[i] >= 0)
      close(fd[i]);
  errno = EPROTO;
  return -1;
}
