# Run by cpack on the packages that it has made.

set(symbols ${CPACK_PACKAGE_FILES})
list(FILTER symbols INCLUDE REGEX "\\.ddeb$")
if(symbols)
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/package-symbols ${symbols}
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
