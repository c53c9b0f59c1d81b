# Installs the LuaJIT that was built in COPY into PREFIX, by LuaJIT's own
# rules: they know the layout of each version. The build tree is such a
# prefix, too. For another PREFIX what depends on its name is built again.
#
#   cmake -D MAKE= -D COPY= -D GOAL= -D PREFIX= [-D SCRATCH= [-D MULTIARCH=]]
#         -P this-file
#
# SCRATCH is a directory to build in; without it COPY is installed as it is.
# With MULTIARCH, Debian's name of the machine, Lua's modules are looked for
# where Debian's packages have them, and only jit.* in PREFIX.

cmake_minimum_required(VERSION 3.25)

if(PREFIX MATCHES "[^A-Za-z0-9_/.,+~=@-]")
  message(FATAL_ERROR "LuaJIT cannot be installed to ${PREFIX}")
endif()

# Settings of an outer make are not for this one.
foreach(name MAKEFLAGS MFLAGS MAKELEVEL)
  unset(ENV{${name}})
endforeach()

if(SCRATCH)
  file(REMOVE_RECURSE ${SCRATCH})
  execute_process(COMMAND cp -Rp ${COPY} ${SCRATCH}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${SCRATCH}/src/lib_package.o ${SCRATCH}/src/ljamalg.o)
  set(paths PREFIX=${PREFIX})
  if(MULTIARCH)
    set(paths PREFIX=/usr MULTILIB=lib/${MULTIARCH})
    set(conf ${SCRATCH}/src/luaconf.h)
    set(root "#define LUA_JROOT[ \t]+LUA_ROOT\n")
    file(READ ${conf} text)
    if(NOT text MATCHES "${root}")
      message(FATAL_ERROR "luaconf.h does not say where jit.* are")
    endif()
    string(REGEX REPLACE "${root}" "#define LUA_JROOT\t\"${PREFIX}\"\n"
           text "${text}")
    file(WRITE ${conf}.new "${text}")
    # With its old time, or make would compile all of LuaJIT again.
    execute_process(COMMAND touch -r ${conf} ${conf}.new
                    COMMAND_ERROR_IS_FATAL ANY)
    file(RENAME ${conf}.new ${conf})
  endif()
  execute_process(COMMAND ${MAKE} -s -C ${SCRATCH}/src ${GOAL} ${paths}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  set(COPY ${SCRATCH})
endif()

# The command is called luajit in every version, the longer name is the link.
# Files that did not change keep their times, so that nothing is linked anew.
execute_process(
  COMMAND ${MAKE} -s -C ${COPY} install PREFIX=${PREFIX}
          INSTALL_TNAME=luajit "INSTALL_TSYMNAME=luajit-$(VERSION)"
          "INSTALL_X=install -C -m 0755" "INSTALL_F=install -C -m 0644"
          RM=: LDCONFIG=: "FILES_INC=lua.h lualib.h lauxlib.h luaconf.h \
lua.hpp luajit.h memprof/lmisclib.h"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

if(SCRATCH)
  file(REMOVE_RECURSE ${SCRATCH})
endif()
