/*
** A program that embeds LuaJIT and lets others record its memory while it runs:
**
**   host PORT SCRIPT
**   bash -c 'cat < /dev/tcp/127.0.0.1/PORT' | lj-parse-memprof -
**
** SCRIPT returns a function, which is called again and again. Whoever connects
** gets a recording of the next two seconds, with stacks.
*/

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lmisclib.h"
#include "lualib.h"

/* Send a part of the stream; what remains comes again. */
static size_t host_write(const void *data, size_t len, void *arg)
{
  ssize_t n = send((int)(intptr_t)arg, data, len, MSG_NOSIGNAL);
  return n > 0 ? (size_t)n : 0; /* Whoever listened has gone: no recording. */
}

/* The recording has ended, whatever the reason. */
static int host_stop(void *arg)
{
  return close((int)(intptr_t)arg);
}

/* A socket that others can connect to, from this machine only. */
static int host_listen(const char *port)
{
  struct sockaddr_in at = {.sin_family = AF_INET,
                           .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
                           .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
      listen(fd, 1) == 0)
    return fd;
  perror("host");
  exit(1);
}

int main(int argc, char **argv)
{
  struct luam_Prof_options opt = {
      .writer = host_write, .on_stop = host_stop, .dursec = 2, .stack = 32};
  lua_State *L = luaL_newstate();
  int server = argc == 3 ? host_listen(argv[1]) : -1, fd;
  luaL_openlibs(L);
  if (argc != 3 || luaL_dofile(L, argv[2]))
    return fprintf(stderr, "host: %s\n", lua_tostring(L, -1)), 1;
  for (;;) { /* A frame of a game, a request, a message. */
    lua_pushvalue(L, -1);
    lua_call(L, 0, 0);
    fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    opt.arg = (void *)(intptr_t)fd;
    if (fd >= 0 && luaM_memprof_start(L, &opt) != LUAM_PROFILE_SUCCESS)
      close(fd); /* It is being recorded already. */
  }
}
