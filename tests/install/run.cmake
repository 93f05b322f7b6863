# Installs the build tree to a scratch prefix, builds the outside project against it and runs it.
# cmake -DBUILD=... -DSOURCE=... -DSCRATCH=... -DCOMPILER=... -P run.cmake
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${code}:\n${out}")
  endif()
  message(STATUS "${out}")
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH}/build -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
     -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_BUILD_TYPE=None)
step(${CMAKE_COMMAND} --build ${SCRATCH}/build)
step(${SCRATCH}/build/outside)
if(EXISTS ${SCRATCH}/build/outside_mpi)
  set(ENV{ASAN_OPTIONS} detect_leaks=0)  # MPI itself leaks
  # TSan does not see a std::timed_mutex being locked, only unlocked (LLVM's issue 62623).
  set(ENV{TSAN_OPTIONS} report_mutex_bugs=0)
  step(${SCRATCH}/build/outside_mpi)
endif()

# A project in C that asks for the C interface alone.
step(${CMAKE_COMMAND} -S ${SOURCE}/c -B ${SCRATCH}/build_c -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
     -DCMAKE_C_FLAGS=${FLAGS} -DCMAKE_BUILD_TYPE=None)
step(${CMAKE_COMMAND} --build ${SCRATCH}/build_c)
step(${SCRATCH}/build_c/outside_c)
