# A fuzz target of the unwinder. It begins with nothing: any bytes are a stack.

set(sysprof_tests ${PROJECT_SOURCE_DIR}/test/unit/sysprof/support)
add_executable(fuzz-walk fuzz_walk.c ${sysprof_tests}/anywalk.c
  ${sysprof_tests}/walk.c)
target_include_directories(fuzz-walk PRIVATE ${sysprof_tests})
target_link_libraries(fuzz-walk PRIVATE fuzz-common sysprof-process)
set(bytes ${CMAKE_CURRENT_SOURCE_DIR})
if(LJPROF_FUZZ)
  target_link_options(fuzz-walk PRIVATE -fsanitize=fuzzer)
  file(MAKE_DIRECTORY ${corpus}/walk)
  add_test(NAME fuzz-walk COMMAND fuzz-walk -timeout=20 -rss_limit_mb=1024
    -max_len=4096 -len_control=0 -max_total_time=${LJPROF_FUZZ_SECONDS}
    ${corpus}/walk)
else()
  target_sources(fuzz-walk PRIVATE once.c)
  # The programs' own sources will do as bytes.
  add_test(NAME fuzz-walk COMMAND sh -c "\"$@\" \"$0\"/*.c" ${bytes}
    $<TARGET_FILE:fuzz-walk>)
endif()
