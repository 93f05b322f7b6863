# How everything in this tree is compiled: Release unless said otherwise, ccache where there,
# warnings for our own code, sanitizers on demand.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(TICOPD_CCACHE ccache)
if(TICOPD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TICOPD_CCACHE})
endif()

add_library(ticopd_warnings INTERFACE)
target_compile_options(ticopd_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wshadow=local>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>  # GCC 12 sees overlaps in "text" + std::string (its bug 105651)
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-pass-failed>  # instrumented loops are not vectorised, and need not be
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${TICOPD_WERROR}>>:-Werror>)

if(TICOPD_SANITIZE)
  # GCC 12 sees uninitialized members in every moved std::variant once it is instrumented.
  target_compile_options(ticopd_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_compile_options(-fsanitize=${TICOPD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TICOPD_SANITIZE})
endif()
