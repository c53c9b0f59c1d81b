/*
** The socket of control: where it is, and who may connect to it.
*/

#define lj_memprof_controlsock_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lj_memprof_controlsock.h"

#define CONTROLSOCK_BACKLOG 8
#define CONTROLSOCK_SUFFIX  ".sock"

/* Makes a folder, if it is not there, that is this user's alone. */
static int controlsock_private(const char *dir)
{
  struct stat st;
  if (mkdir(dir, 0700) != 0 && errno != EEXIST)
    return 0;
  if (lstat(dir, &st) != 0)
    return 0;
  if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0)
    return 1;
  errno = EPERM;
  return 0;
}

/*
** The folder: in that of the user's session, or else in /tmp. If another user
** has made a folder of this name, there is no control.
*/
static int controlsock_folder(char dir[MPCONTROL_PATH])
{
  const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
  if (runtime != NULL && *runtime == '/' &&
      strlen(runtime) + 24 < MPCONTROL_PATH) {
    snprintf(dir, MPCONTROL_PATH, "%s/ljprof", runtime);
    if (controlsock_private(dir))
      return 1;
  }
  snprintf(dir, MPCONTROL_PATH, "/tmp/ljprof-%lu", (unsigned long)geteuid());
  return controlsock_private(dir);
}

/* The address of a path, which fits. */
static struct sockaddr_un controlsock_address(const char *path)
{
  struct sockaddr_un addr;
  memset(&addr, 0, sizeof(addr));
  addr.sun_family = AF_UNIX;
  memcpy(addr.sun_path, path, strlen(path) + 1);
  return addr;
}

/* Removes a socket without a listener: its process was killed. */
static void controlsock_try(const char *path)
{
  struct sockaddr_un addr = controlsock_address(path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return;
  if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) != 0 &&
      errno == ECONNREFUSED)
    unlink(path);
  close(fd);
}

/* Removes all such sockets of a folder. */
static void controlsock_clean(const char *dir)
{
  char path[MPCONTROL_PATH];
  struct dirent *de;
  DIR *d = opendir(dir);
  int n;
  while (d != NULL && (de = readdir(d)) != NULL) {
    const char *dot = strrchr(de->d_name, '.');
    n = snprintf(path, sizeof(path), "%s/%s", dir, de->d_name);
    if (dot != NULL && strcmp(dot, CONTROLSOCK_SUFFIX) == 0 && n > 0 &&
        n < MPCONTROL_PATH)
      controlsock_try(path);
  }
  if (d != NULL)
    closedir(d);
}

/*
** Binds a socket. It gets its name when it listens: others remove one that does
** not.
*/
static int controlsock_bind(int fd, const char *path)
{
  struct sockaddr_un addr;
  char temp[MPCONTROL_PATH];
  int en;
  memcpy(temp, path, strlen(path) + 1);
  memcpy(strrchr(temp, '.'), ".tmp", sizeof(".tmp"));
  unlink(temp); /* Of a dead process of our number. */
  addr = controlsock_address(temp);
  if (bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0 &&
      chmod(temp, 0600) == 0 && listen(fd, CONTROLSOCK_BACKLOG) == 0 &&
      rename(temp, path) == 0)
    return 1;
  en = errno;
  unlink(temp);
  errno = en;
  return 0;
}

int lj_memprof_listen(char path[MPCONTROL_PATH], const char **why)
{
  char dir[MPCONTROL_PATH];
  int fd, en, n;
  *why = "control: its folder is not private";
  if (!controlsock_folder(dir))
    return -1;
  controlsock_clean(dir);
  n = snprintf(path, MPCONTROL_PATH, "%s/%ld" CONTROLSOCK_SUFFIX, dir,
               (long)getpid());
  errno = ENAMETOOLONG;
  *why = "control: its socket cannot be made";
  if (n < 0 || n >= MPCONTROL_PATH)
    return -1;
  fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || controlsock_bind(fd, path))
    return fd;
  en = errno;
  close(fd);
  errno = en;
  return -1;
}

int lj_memprof_accept(int fd)
{
  struct ucred peer;
  socklen_t len = sizeof(peer);
  int c = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (c < 0)
    return -1;
  if (getsockopt(c, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
      (peer.uid == geteuid() || peer.uid == 0))
    return c;
  close(c);
  return -1;
}

#endif
