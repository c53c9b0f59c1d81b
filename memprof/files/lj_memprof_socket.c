/*
** Recordings that go to a socket: unix:PATH, tcp:HOST:PORT.
*/

#define lj_memprof_socket_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lj_memprof_file.h"
#include "lj_memprof_time.h"

#define SOCKET_UNIX "unix:"
#define SOCKET_TCP  "tcp:"

#define SOCKET_PATIENCE (5000 * MP_MS) /* Until a connection is there. */
#define SOCKET_HOST     1024           /* No name of a host is longer. */

int lj_memprof_issocket(const char *name)
{
  return strncmp(name, SOCKET_UNIX, sizeof(SOCKET_UNIX) - 1) == 0 ||
         strncmp(name, SOCKET_TCP, sizeof(SOCKET_TCP) - 1) == 0;
}

/* -- Connecting ------------------------------------------------------------ */

/* Waits for a connection. Returns 0 or an error number. */
static int socket_wait(int fd, uint64_t until)
{
  struct pollfd p = {.fd = fd, .events = POLLOUT};
  int en = 0, n;
  socklen_t len = sizeof(en);
  do {
    uint64_t now = lj_memprof_now();
    if (now >= until)
      return ETIMEDOUT;
    n = poll(&p, 1, (int)((until - now) / MP_MS) + 1);
  } while (n == 0 || (n < 0 && errno == EINTR));
  if (n < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &en, &len) != 0)
    return errno;
  return en;
}

/*
** Connects to an address. Returns a descriptor that blocks, behind those of the
** standard streams, or -1 and errno.
*/
static int socket_connect(int family, const struct sockaddr *addr,
                          socklen_t len, uint64_t until)
{
  int any = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int fd = any < 0 ? -1 : fcntl(any, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int en = fd < 0 ? errno : 0;
  if (any >= 0)
    close(any);
  if (en == 0 && connect(fd, addr, len) != 0)
    en = errno == EINPROGRESS ? socket_wait(fd, until) : errno;
  if (en == 0 && fcntl(fd, F_SETFL, O_RDWR) != 0)
    en = errno;
  if (en == 0)
    return fd;
  if (fd >= 0)
    close(fd);
  errno = en;
  return -1;
}

/* A path, or with @ before it a name without a file. Sets the error. */
static int socket_unix(MPFile *f, const char *path)
{
  struct sockaddr_un un = {.sun_family = AF_UNIX};
  size_t len = strlen(path);
  if (len == 0)
    return lj_memprof_filefail(f, EINVAL, "unix:PATH expected");
  if (len >= sizeof(un.sun_path))
    return lj_memprof_filefail(f, ENAMETOOLONG, NULL);
  memcpy(un.sun_path, path, len);
  if (*path == '@')
    un.sun_path[0] = '\0';
  else
    len++;
  f->fd =
      socket_connect(AF_UNIX, (const struct sockaddr *)&un,
                     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len),
                     lj_memprof_now() + SOCKET_PATIENCE);
  return f->fd >= 0 || lj_memprof_filefail(f, errno, NULL);
}

/* Connects to the first address of a list that takes it. Sets the error. */
static int socket_any(MPFile *f, const struct addrinfo *list)
{
  uint64_t until = lj_memprof_now() + SOCKET_PATIENCE;
  const struct addrinfo *a;
  for (a = list; a != NULL && f->fd < 0; a = a->ai_next)
    f->fd = socket_connect(a->ai_family, a->ai_addr, a->ai_addrlen, until);
  return f->fd >= 0 || lj_memprof_filefail(f, errno, NULL);
}

/* Splits HOST:PORT or [HOST]:PORT. Returns the port, or NULL. */
static const char *socket_split(const char *name, char *host)
{
  const char *port = strrchr(name, ':');
  size_t len = port != NULL ? (size_t)(port - name) : 0;
  if (len >= 2 && name[0] == '[' && name[len - 1] == ']') {
    name++;
    len -= 2;
  } else if (memchr(name, ':', len) != NULL) {
    return NULL; /* An address of IPv6 needs the brackets. */
  }
  if (len == 0 || len >= SOCKET_HOST || port[1] == '\0')
    return NULL;
  memcpy(host, name, len);
  host[len] = '\0';
  return port + 1;
}

/* Connects to HOST:PORT. */
static int socket_tcp(MPFile *f, const char *name)
{
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
  struct addrinfo *list;
  char host[SOCKET_HOST];
  const char *port = socket_split(name, host);
  int status, good;
  if (port == NULL)
    return lj_memprof_filefail(f, EINVAL,
                               "tcp:HOST:PORT or tcp:[ADDRESS]:PORT expected");
  status = getaddrinfo(host, port, &hints, &list);
  if (status == EAI_SYSTEM)
    return lj_memprof_filefail(f, errno, NULL);
  if (status != 0)
    return lj_memprof_filefail(f, EHOSTUNREACH, gai_strerror(status));
  good = socket_any(f, list);
  freeaddrinfo(list);
  return good;
}

int lj_memprof_opensocket(MPFile *f, const char *name)
{
  int istcp = strncmp(name, SOCKET_TCP, sizeof(SOCKET_TCP) - 1) == 0;
  int good;
  lj_memprof_initfile(f);
  good = istcp ? socket_tcp(f, name + sizeof(SOCKET_TCP) - 1)
               : socket_unix(f, name + sizeof(SOCKET_UNIX) - 1);
  return good && lj_memprof_connected(f);
}

#endif
