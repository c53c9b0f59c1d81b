# Fuzz targets of what lj-sysprof knows of VMs. Seeds come from a live process.

add_test(NAME fuzz-luavm-seeds COMMAND test-sysprof)
set_tests_properties(fuzz-luavm-seeds PROPERTIES FIXTURES_SETUP luavm-corpus
  ENVIRONMENT "CK_RUN_SUITE=seeds;CORPUS=${corpus}")

foreach(target vmcode luasites)
  add_executable(fuzz-${target} fuzz_${target}.c)
  target_link_libraries(fuzz-${target} PRIVATE fuzz-common sysprof-process)
  if(LJPROF_FUZZ)
    target_link_options(fuzz-${target} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz-${target} COMMAND fuzz-${target} -timeout=20
      -rss_limit_mb=1024 -max_total_time=${LJPROF_FUZZ_SECONDS}
      ${corpus}/${target})
  else()
    target_sources(fuzz-${target} PRIVATE once.c)
    add_test(NAME fuzz-${target} COMMAND sh -c "\"$@\" \"$0\"/*"
      ${corpus}/${target} $<TARGET_FILE:fuzz-${target}>)
  endif()
  set_tests_properties(fuzz-${target} PROPERTIES FIXTURES_REQUIRED luavm-corpus)
endforeach()
