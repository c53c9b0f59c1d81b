/*
** The user as whom a command runs. lj-sysprof needs root, a command seldom
** does: so the command, its folder, and what reads the recordings belong to
** the user.
*/

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "program.h"
#include "user.h"

void ft_user_find(FtUser *u, const char *name)
{
  const struct passwd *pw = getpwnam(name);
  if (!pw)
    ft_usage("there is no user %s", name);
  if (geteuid() != 0)
    ft_usage("--user needs root, as in sudo ljprof run --user=%s", name);
  *u = (FtUser){.name = lp_strdup(pw->pw_name),
                .home = lp_strdup(pw->pw_dir),
                .uid = pw->pw_uid,
                .gid = pw->pw_gid};
}

/* Nothing more is done as the wrong user. */
static void check(int err, const FtUser *u)
{
  if (!err)
    return;
  ft_fail("cannot run as user %s: %s", u->name, strerror(errno));
  _exit(FT_EXIT_NOTHING);
}

#define GROUPS_MAX 65536 /* The kernel's NGROUPS_MAX. */

int ft_user_place(const FtUser *u, FtPlace *p, const char *page, char **command,
                  int shared)
{
  static gid_t own[GROUPS_MAX];
  gid_t gid = getegid();
  int n, err;
  if (!u->name)
    return ft_place_make(p, page, command, shared);
  n = getgroups(GROUPS_MAX, own);
  check(n < 0 || initgroups(u->name, u->gid) || setegid(u->gid) ||
            seteuid(u->uid),
        u);
  err = ft_place_make(p, page, command, shared);
  check(seteuid(0) || setegid(gid) || setgroups((size_t)n, own), u);
  return err;
}

void ft_user_become(const FtUser *u)
{
  if (!u->name)
    return;
  check(initgroups(u->name, u->gid) || setgid(u->gid) || setuid(u->uid), u);
  setenv("HOME", u->home, 1);
  setenv("USER", u->name, 1);
  setenv("LOGNAME", u->name, 1);
}

/* The folder is the user's, who may have put another file there. */
void ft_user_give(const FtUser *u, const FtPlace *p)
{
  LpBuf name = {0};
  struct stat st;
  int fd;
  if (!u->name)
    return;
  lp_buf_printf(&name, "%s/cpu.ljp", p->whole.s);
  fd = open(name.s, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  lp_buf_free(&name);
  if (fd < 0)
    return;
  if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
      st.st_uid != 0 || fchown(fd, u->uid, u->gid))
    ft_fail("the CPU profile cannot be given to user %s", u->name);
  close(fd);
}
