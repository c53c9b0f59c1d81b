# Debian packages, made by cpack: the tools; LuaJIT with the profiler, in a
# prefix of its own beside the system's; what programs that embed it are
# compiled with; and the module for the system's LuaJIT. Each base of LuaJIT has
# packages of another name, and all can be installed at once.

find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
find_program(FILE_PROGRAM file)
if(NOT DPKG_SHLIBDEPS OR NOT FILE_PROGRAM OR NOT CMAKE_LIBRARY_ARCHITECTURE)
  message(STATUS "Left out: packages, without dpkg-dev and file")
  return()
endif()

set(runtime ljprof-${LUAJIT_BASE})
set(prefix lib/${runtime})
set(packages_dir ${CMAKE_BINARY_DIR}/packages)
set(stage ${packages_dir}/luajit)

# Only cpack asks for what is installed here: each part belongs to a package.
set(to_tools COMPONENT tools EXCLUDE_FROM_ALL)
set(to_runtime COMPONENT runtime EXCLUDE_FROM_ALL)
set(to_dev COMPONENT dev EXCLUDE_FROM_ALL)
set(to_module COMPONENT module EXCLUDE_FROM_ALL)
set(components tools runtime dev)
if(TARGET memprof-module)
  list(APPEND components module)
endif()

# Installs a file, packed, as NAME.gz in DIR.
function(install_packed component file dir name)
  set(packed ${packages_dir}/${name}.gz)
  install(CODE "
    execute_process(COMMAND gzip -9nc \"${file}\" OUTPUT_FILE ${packed}
                    COMMAND_ERROR_IS_FATAL ANY)" ${to_${component}})
  install(FILES ${packed} DESTINATION ${dir} ${to_${component}})
endfunction()

# Installs a symbolic link.
function(install_link component target link)
  get_filename_component(name ${link} NAME)
  get_filename_component(dir ${link} DIRECTORY)
  install(CODE "
    file(CREATE_LINK ${target} ${packages_dir}/${name} SYMBOLIC)"
    ${to_${component}})
  install(FILES ${packages_dir}/${name} DESTINATION ${dir} ${to_${component}})
endfunction()

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME ljprof)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${runtime})
set(CPACK_DEBIAN_DEV_PACKAGE_NAME ${runtime}-dev)
set(CPACK_DEBIAN_MODULE_PACKAGE_NAME ljprof-memprof)

# Whoever makes packages says who it is as to Debian's own tools.
set(maintainer "the ljprof authors")
set(address root@localhost)
if(DEFINED ENV{DEBFULLNAME})
  set(maintainer "$ENV{DEBFULLNAME}")
endif()
if(DEFINED ENV{DEBEMAIL})
  set(address "$ENV{DEBEMAIL}")
endif()
set(CPACK_PACKAGE_CONTACT "${maintainer} <${address}>"
    CACHE STRING "Who maintains the packages")

# Debian wants one of everybody; ours is git's.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${packages_dir}/changelog
"ljprof (${PROJECT_VERSION}) unstable; urgency=medium

  * Packaged by cpack.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")

foreach(component IN LISTS components)
  string(TOUPPER ${component} upper)
  set(doc share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright
    DESTINATION ${doc} ${to_${component}})
  install_packed(${component} ${packages_dir}/changelog ${doc} changelog)
endforeach()

# -- The tools: programs and completions are installed in ../CMakeLists.txt ---

foreach(program lj-parse-memprof lj-sysprof ljprof)
  if(TARGET ${program})
    install_packed(tools ${PROJECT_SOURCE_DIR}/doc/${program}.1
      share/man/man1 ${program}.1)
    install(FILES ${PROJECT_SOURCE_DIR}/tools/cli/completion/_${program}
      DESTINATION share/zsh/vendor-completions ${to_tools})
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION share/doc/ljprof ${to_tools})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/doc
  DESTINATION share/doc/ljprof ${to_tools} PATTERN "*.1" EXCLUDE)

# -- LuaJIT -------------------------------------------------------------------

foreach(component runtime dev)
  install(CODE "
    execute_process(COMMAND ${install_luajit} -D PREFIX=/usr/${prefix}
                    -D SCRATCH=${CMAKE_BINARY_DIR}/install -D STAGE=${stage}
                    -D MULTIARCH=${CMAKE_LIBRARY_ARCHITECTURE}
                    -D STRIP=${CMAKE_STRIP}
                    -P ${PROJECT_SOURCE_DIR}/cmake/stage-luajit.cmake
                    COMMAND_ERROR_IS_FATAL ANY)" ${to_${component}})
endforeach()
set(laid ${stage}/usr/${prefix})

install(PROGRAMS ${laid}/bin/luajit DESTINATION ${prefix}/bin ${to_runtime})
install_link(runtime ../${prefix}/bin/luajit bin/${runtime})
install_packed(runtime ${laid}/share/man/man1/luajit.1
  share/man/man1 ${runtime}.1)
install(DIRECTORY ${laid}/lib/ DESTINATION ${prefix}/lib ${to_runtime}
  USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN "*.so.*"
  PATTERN lua EXCLUDE PATTERN pkgconfig EXCLUDE)
install(DIRECTORY ${laid}/share/ DESTINATION ${prefix}/share ${to_runtime}
  PATTERN lua EXCLUDE PATTERN man EXCLUDE)

install(DIRECTORY ${laid}/include DESTINATION ${prefix} ${to_dev})
install(DIRECTORY ${laid}/lib/ DESTINATION ${prefix}/lib ${to_dev}
  FILES_MATCHING PATTERN "*.a" PATTERN "*.so" PATTERN "*.pc"
  PATTERN lua EXCLUDE)
install_link(dev ../../${runtime}/lib/pkgconfig/luajit.pc
  lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig/${runtime}.pc)

# -- The module ---------------------------------------------------------------

if(TARGET memprof-module) # Where the LuaJITs of Debian look for it.
  install(TARGETS memprof-module LIBRARY
    DESTINATION lib/${CMAKE_LIBRARY_ARCHITECTURE}/lua/5.1 ${to_module})
  install(TARGETS memprof-preload LIBRARY
    DESTINATION lib/${CMAKE_LIBRARY_ARCHITECTURE}/lua/5.1/memprof ${to_module})
  install(FILES ${PROJECT_SOURCE_DIR}/tools/nginx/lib/resty/ljprof.lua
    DESTINATION share/lua/5.1/resty ${to_module})
endif()

# -- What is said of them -----------------------------------------------------

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ljprof)
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package-modes.cmake)
set(CPACK_POST_BUILD_SCRIPTS
    ${PROJECT_SOURCE_DIR}/cmake/package-symbols.cmake)

set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS
    "ljprof-memprof | ljprof-luajit | ljprof-luajit2")
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "memory and CPU profiler for LuaJIT
lj-parse-memprof reports what memory a program in LuaJIT allocates, where and
by whom, from recordings that LuaJIT with the profiler has made, and where CPU
time goes: as text, pages with flame graphs, for pprof, and more.
.
lj-sysprof samples where any running LuaJIT process spends its CPU time, by
BPF. The process is not restarted and needs no other LuaJIT.")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION interpreters)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS ljprof)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
"LuaJIT (base ${LUAJIT_BASE}) with a memory profiler
The command ${runtime} is LuaJIT with the library misc, which records
what a program allocates, for lj-parse-memprof to report.
.
The library for programs that embed LuaJIT is in /usr/${prefix}/lib,
where none finds it by chance: they run with it once LD_LIBRARY_PATH names
this directory. The system's LuaJIT stays as it is.")

set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${runtime} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_DESCRIPTION
"LuaJIT (base ${LUAJIT_BASE}) with a memory profiler: development files
Headers, the static library and ${runtime}.pc, with which programs
embed LuaJIT and record its memory through a writer of their own.")

set(CPACK_DEBIAN_MODULE_PACKAGE_SECTION interpreters)
set(CPACK_DEBIAN_MODULE_PACKAGE_RECOMMENDS ljprof)
set(CPACK_DEBIAN_MODULE_PACKAGE_ENHANCES
    "libluajit-5.1-2, libluajit2-5.1-2, libnginx-mod-http-lua")
set(CPACK_DEBIAN_MODULE_DESCRIPTION "memory profiler for the system's LuaJIT
The Lua module memprof records what a program allocates, for lj-parse-memprof
to report, in a LuaJIT that is not changed for it.
.
It finds out whether it knows the layout of the LuaJIT that loads it, and runs
only if it does.")

include(CPack)
