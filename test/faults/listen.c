/*
** Copies what one connection to a Unix socket sends to a file:
**
**   listen SOCKET FILE
**
** Returns when it listens; the copy is made by a child, which has our standard
** output open until it is done. It ends as well if our parent ends before
** anybody has come.
*/

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static int die(const char *what)
{
  perror(what);
  return 1;
}

static int copy(int from, FILE *to)
{
  static char buf[65536];
  ssize_t n;
  while ((n = read(from, buf, sizeof(buf))) > 0)
    if (fwrite(buf, 1, (size_t)n, to) != (size_t)n)
      return die("write");
  return fclose(to) ? die("close") : 0;
}

/* Waits for a connection to FD, or the end of the process that PARENT is. */
static int connection(int fd, int parent)
{
  struct pollfd poller[] = {{fd, POLLIN, 0}, {parent, POLLIN, 0}};
  if (poll(poller, 2, -1) <= 0)
    return -1;
  return poller[0].revents ? accept(fd, NULL, NULL) : -2;
}

int main(int argc, char **argv)
{
  struct sockaddr_un addr = {.sun_family = AF_UNIX};
  FILE *to;
  pid_t child;
  int fd = socket(AF_UNIX, SOCK_STREAM, 0), from;
  int parent = (int)syscall(SYS_pidfd_open, getppid(), 0);
  if (argc != 3 || strlen(argv[1]) >= sizeof(addr.sun_path))
    return 64;
  memcpy(addr.sun_path, argv[1], strlen(argv[1]));
  to = fopen(argv[2], "wb");
  if (fd < 0 || parent < 0 || !to ||
      bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 1))
    return die("listen");
  child = fork();
  if (child)
    return child < 0 ? die("fork") : 0;
  alarm(90); /* If nobody comes. */
  from = connection(fd, parent);
  if (from == -2)
    return 0;
  return from < 0 ? die("accept") : copy(from, to);
}
