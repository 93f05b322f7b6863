# The CUDA network, part of the library where there are a CUDA compiler and a GPU, or where
# TICOPD_CUDA=ON asks for it. Without it, absent.cpp says so to whoever asks for a GPU.
function(ticopd_without_cuda why)
  message(STATUS "No CUDA: ${why}")
  target_sources(ticopd_core PRIVATE ${PROJECT_SOURCE_DIR}/ticopd/cuda/absent.cpp)
  set(TICOPD_HAS_CUDA OFF PARENT_SCOPE)
endfunction()

if(TICOPD_CUDA STREQUAL "OFF")
  ticopd_without_cuda("-DTICOPD_CUDA=OFF")
  return()
endif()
# Also finds an installation that is not on the PATH.
find_program(TICOPD_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin /usr/local/cuda/bin)
if(TICOPD_CUDA STREQUAL "AUTO" AND (NOT TICOPD_NVCC OR TICOPD_SANITIZE))
  ticopd_without_cuda("nvcc was not found, or a sanitizer is asked for")
  return()
endif()
if(TICOPD_CUDA STREQUAL "AUTO")  # three minutes of compiling, of no use without a GPU
  execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE no_gpu OUTPUT_QUIET ERROR_QUIET)
  if(no_gpu AND NOT EXISTS /dev/nvidia0)
    ticopd_without_cuda("there is no GPU here; -DTICOPD_CUDA=ON compiles it all the same")
    return()
  endif()
endif()
if(TICOPD_NVCC AND NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${TICOPD_NVCC})
endif()
set(TICOPD_CUDA_ARCHITECTURES 90a CACHE STRING "GPUs to compile kernels for; 90a: H100 and H200")
set(CMAKE_CUDA_ARCHITECTURES ${TICOPD_CUDA_ARCHITECTURES})
# CMake 3.25 does not know the C++20 flag of this nvcc. Setting it here keeps CMake from testing for
# it.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
  if(TICOPD_CUDA STREQUAL "AUTO")
    ticopd_without_cuda("nvcc ${CMAKE_CUDA_COMPILER_VERSION} is older than 13")
    return()
  endif()
  message(FATAL_ERROR "TICOPD_CUDA: nvcc ${CMAKE_CUDA_COMPILER_VERSION} found, 13 is needed")
endif()
set(TICOPD_HAS_CUDA ON)

file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ticopd/cuda/*.cu
  ${PROJECT_SOURCE_DIR}/ticopd/cuda/*.cpp)
list(FILTER cuda_sources EXCLUDE REGEX "/absent.cpp$")
# Joined for TICOPD_FAST_BUILD: files whose names do not clash.
ticopd_cuda_together(cuda_sources codecs "/codecs/(identity|kept|rand_k|registry)[.]cu$")
ticopd_cuda_together(cuda_sources networks "/cuda/(device|metrics|mirror|network|runtime/[^/]*)[.]cu$")
ticopd_cuda_together(cuda_sources fused "/cuda/fused/[^/]*[.]cu$")
ticopd_cuda_together(cuda_sources general "/cuda/general/(batch|data|objective|pass|plan|sizes)[.]cu$")
ticopd_cuda_together(cuda_sources general_rows "/cuda/general/(layers|logits)[.]cu$")
target_sources(ticopd_core PRIVATE ${cuda_sources})
# No contraction, as on the CPU, so that formulas and codecs give the same bits on both. Gradients may
# use fused multiply-add: tests compare them with a bound (docs/gpu.md).
target_compile_options(ticopd_core PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -Xcompiler=-ffp-contract=off,-Wno-parentheses>)
set(exact_sources ${cuda_sources})
list(FILTER exact_sources INCLUDE REGEX "[.]cu$")
list(FILTER exact_sources EXCLUDE REGEX "/(cuda|together)/(fused|general)[^/]*(/[^/]*)?$")
set_source_files_properties(${exact_sources} PROPERTIES COMPILE_OPTIONS -fmad=false)
set_target_properties(ticopd_core PROPERTIES CUDA_ARCHITECTURES "${TICOPD_CUDA_ARCHITECTURES}"
  CUDA_STANDARD 20 CUDA_RUNTIME_LIBRARY Static)
find_package(CUDAToolkit REQUIRED)
target_link_libraries(ticopd_core PRIVATE CUDA::cudart_static)
