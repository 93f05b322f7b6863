# Moves the installed package elsewhere, builds examples/plugin against it and runs the installed program with
# each plug-in. cmake -DPREFIX=... -DSOURCE=... -DSCRATCH=... -DCOMPILER=... -DFLAGS=... -P plugins.cmake
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${code}:\n${out}")
  endif()
  message(STATUS "${out}")
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
file(COPY ${PREFIX}/ DESTINATION ${SCRATCH}/moved)
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH}/build -DCMAKE_PREFIX_PATH=${SCRATCH}/moved
     -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS})
step(${CMAKE_COMMAND} --build ${SCRATCH}/build)
file(GLOB_RECURSE programs ${SCRATCH}/moved/*/ticopd)
list(FILTER programs INCLUDE REGEX "/bin/ticopd$")
# A list of arguments in which ; stands between the words.
set(diffusion "--set;algorithm={name='diffusion',mu=0.1};--set;codec.kind='identity'")
set(truncated "--set;codec={kind='truncated',bytes=3}")
set(small_world "--set;graph={kind='small_world',agents=8}")
set(farthest "--set;log.points=10")
set(sensors "--set;problem={objective='sensors'};--set;algorithm={alpha=0.03,theta=4,eta=0.4}")
set(huber "--set;problem={objective='huber',data='csv:points.csv',partition='iid'}")
file(WRITE ${SCRATCH}/points.csv "1,0,1\n2,1,0\n3,1,1\n5,2,1\n4,1,2\n6,2,2\n0,0,0\n8,3,2\n9,3,3\n7,3,1\n2,0,2\n90,1,1\n")
file(WRITE ${SCRATCH}/small.toml "iterations = 20
[problem]
objective = 'softmax'
data = 'synthetic'
samples = 200
features = 6
classes = 4
partition = 'iid'
[algorithm]
alpha = 0.3
theta = 0.3
eta = 0.003
")
foreach(part diffusion truncated small_world farthest sensors huber)
  step(${programs} run ${SCRATCH}/small.toml --quiet --out ${SCRATCH}/runs/${part} ${${part}}
       --plugin ${SCRATCH}/build/${part}.so)
  step(${programs} verify ${SCRATCH}/runs/${part} --quiet --plugin ${SCRATCH}/build/${part}.so)
endforeach()
