/*
** Which of all processes --comm and --cgroup choose.
*/

#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "matching.h"
#include "say.h"
#include "target.h"

int ls_matching_wanted(const LsOptions *opt, LsModules *modules, pid_t pid)
{
  char name[64], path[LS_CGROUP_MAX];
  if (opt->comm && (ls_target_name(pid, pid, name, sizeof(name)) ||
                    fnmatch(opt->comm, name, 0) != 0))
    return 0;
  if (opt->cgroup) {
    ls_cgroup_read(pid, path);
    if (!ls_cgroup_is(path, opt->cgroup))
      return 0;
  }
  return ls_modules_suspect(modules, pid);
}

/* What --cgroup would have to match or, without it, --comm. Returns 0 if it
** cannot be read.
*/
static int matching_value(const LsOptions *opt, pid_t pid, char *to, size_t n)
{
  if (!opt->cgroup)
    return ls_target_name(pid, pid, to, n) == 0;
  ls_cgroup_read(pid, to);
  if (!*to)
    snprintf(to, n, "/");
  return 1;
}

/* Append a value to a list, unless it is there already. */
static void matching_add(char *list, size_t n, const char *value)
{
  char quoted[LS_CGROUP_MAX + 2];
  size_t used = strlen(list);
  snprintf(quoted, sizeof(quoted), "'%s'", value);
  if (!strstr(list, quoted) && used + strlen(quoted) + 3 < n)
    snprintf(list + used, n - used, "%s%s", used ? ", " : "", quoted);
}

void ls_matching_nothing(const LsOptions *opt, LsModules *modules)
{
  char list[400] = "", value[LS_CGROUP_MAX];
  DIR *dir = opendir("/proc");
  struct dirent *de;
  while (dir && (de = readdir(dir)) != NULL) {
    char *end;
    long pid = strtol(de->d_name, &end, 10);
    if (pid > 0 && !*end && ls_modules_suspect(modules, (pid_t)pid) &&
        matching_value(opt, (pid_t)pid, value, sizeof(value)))
      matching_add(list, sizeof(list), value);
  }
  if (dir)
    closedir(dir);
  ls_fail("%s%s%s%s%s matched no process with a LuaJIT; %s%s",
          opt->comm ? "--comm=" : "", opt->comm ? opt->comm : "",
          opt->comm && opt->cgroup ? " " : "", opt->cgroup ? "--cgroup=" : "",
          opt->cgroup ? opt->cgroup : "", *list ? "there is " : "there is none",
          list);
}
