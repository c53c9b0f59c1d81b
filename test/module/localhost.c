/*
** A host with plugins, each of which has its libraries for itself alone.
**
**   local PLUGIN ARGUMENT...
*/

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  typedef int (*Main)(char **argv);
  void *so = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void *f = so ? dlsym(so, "plugin_main") : NULL;
  if (f == NULL) {
    printf("%s\n", argc > 1 ? dlerror() : "no plugin is named");
    return 64;
  }
  return ((Main)(uintptr_t)f)(argv);
}
