# When this is built for another machine: the libraries of the parser and of the
# tests for it, unpacked from Debian's packages, unless PKG_CONFIG_LIBDIR says
# where they are. Only what they are developed with: so they are linked
# statically, and an emulator need not find them.

if(NOT DEFINED ENV{PKG_CONFIG_LIBDIR} AND DEFINED LJPROF_DEBIAN_ARCH)
  set(foreign ${CMAKE_BINARY_DIR}/foreign)
  if(NOT EXISTS ${foreign}/usr/include/jansson.h)
    message(STATUS "Unpacking libraries for ${LJPROF_DEBIAN_ARCH}")
    execute_process(
      COMMAND ${PROJECT_SOURCE_DIR}/cmake/unpack-packages ${LJPROF_DEBIAN_ARCH}
              ${foreign} zlib1g-dev libzstd-dev check libsubunit-dev
              libjansson-dev)
  endif()
  list(APPEND CMAKE_FIND_ROOT_PATH ${foreign})
  set(ENV{PKG_CONFIG_SYSROOT_DIR} ${foreign})
  set(ENV{PKG_CONFIG_LIBDIR}
      ${foreign}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig)
endif()
