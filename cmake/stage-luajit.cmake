# Lays the LuaJIT that was built in COPY into STAGE as Debian packages have it:
# in PREFIX, which is its own, so that the system's LuaJIT stays what it is.
#
#   cmake -D MAKE= -D COPY= -D GOAL= -D PREFIX= -D SCRATCH= -D MULTIARCH=
#         -D STAGE= -D STRIP= -P this-file
#
# Programs and shared libraries keep their symbols: cpack takes them out, into
# packages of their own.

file(REMOVE_RECURSE ${STAGE})
set(ENV{DESTDIR} ${STAGE})
include(${CMAKE_CURRENT_LIST_DIR}/install-luajit.cmake)

set(lib ${STAGE}${PREFIX}/lib)
execute_process(COMMAND ${STRIP} --strip-debug --remove-section=.comment
                        ${lib}/libluajit-5.1.a
                COMMAND_ERROR_IS_FATAL ANY)
file(GLOB library ${lib}/libluajit-5.1.so.2.*)
file(CHMOD ${library} PERMISSIONS
     OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)

# What is linked by it must not run with the system's library.
set(pc ${lib}/pkgconfig/luajit.pc)
file(READ ${pc} text)
string(REPLACE "Libs: -L\${libdir} " "Libs: -L\${libdir} -Wl,-rpath,\${libdir} "
       text "${text}")
string(REPLACE "\${prefix}/share/lua" "/usr/share/lua" text "${text}")
string(REPLACE "\${prefix}/\${multilib}/lua" "/usr/lib/${MULTIARCH}/lua"
       text "${text}")
if(NOT text MATCHES "-rpath" OR NOT text MATCHES "/usr/lib/${MULTIARCH}/lua/")
  message(FATAL_ERROR "luajit.pc is not what it was")
endif()
file(WRITE ${pc} "${text}")
