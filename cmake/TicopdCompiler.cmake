# Compiler settings of the whole tree: Release by default, ccache if installed, warnings for our own
# code, sanitizers on demand.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(TICOPD_CCACHE ccache)
if(TICOPD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache hashes paths below the tree as relative paths, so that clones share the cache. Its manual
  # asks for this sloppiness with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${TICOPD_CCACHE})
endif()

# ticopd_together(TARGET NUMBER [FILE ...]): with TICOPD_FAST_BUILD, compiles NUMBER files at a time as one.
# The listed FILEs stay apart: their names clash with those of other files. This pays off for files that
# include the same large headers (JSON, the command line, GoogleTest). Other builds compile every file
# alone, which shows a missing include.
function(ticopd_together target number)
  if(NOT TICOPD_FAST_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${number})
  foreach(file ${ARGN})
    set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()

# ticopd_precompile(TARGET [HEADER ...]): compiles the headers that most test files include once for TARGET,
# and those named. Only with TICOPD_FAST_BUILD, as above. JSON is better left out: with it in, the files that
# do without take longer, and the others are hardly quicker. The library itself gains nothing by it (its
# files took 14.9 s with, 13.4 s without, for report/), since its files are joined already.
function(ticopd_precompile target)
  set(headers algorithm array atomic cmath cstdint cstring filesystem fstream functional limits map memory
    numeric optional set span string string_view vector fmt/format.h ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  target_precompile_headers(${target} PRIVATE ${headers})
  # GCC 12 takes "text" + std::string for an overflow too where <string> was precompiled (its bug 105651).
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-stringop-overflow>
    # a time stamp in them would make ccache miss
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

# ticopd_cuda_together(LIST NAME REGEX): the same for CUDA files, which CMake itself can do only since 3.31.
# Replaces the files of LIST that match REGEX by NAME.cu, which includes them.
function(ticopd_cuda_together list name regex)
  set(joining ${${list}})
  list(FILTER joining INCLUDE REGEX "${regex}")
  if(NOT TICOPD_FAST_BUILD OR NOT joining)
    return()
  endif()
  list(TRANSFORM joining REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE includes)
  string(REPLACE ";" "" includes "${includes}")
  set(joined ${CMAKE_CURRENT_BINARY_DIR}/together/${name}.cu)
  file(CONFIGURE OUTPUT ${joined} CONTENT "${includes}" @ONLY)
  set(rest ${${list}})
  list(REMOVE_ITEM rest ${joining})
  set(${list} ${rest} ${joined} PARENT_SCOPE)
endfunction()

add_library(ticopd_warnings INTERFACE)
target_compile_options(ticopd_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wshadow=local>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>  # false positive of GCC 12 for "text" + std::string (GCC bug 105651)
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-pass-failed>  # instrumented loops need not be vectorised
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-missing-braces>  # not in -Wall of GCC, for C++
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${TICOPD_WERROR}>>:-Werror>)

if(TICOPD_SANITIZE)
  # With sanitizers, GCC 12 warns about uninitialized members of every moved std::variant.
  target_compile_options(ticopd_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_compile_options(-fsanitize=${TICOPD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TICOPD_SANITIZE})
endif()
