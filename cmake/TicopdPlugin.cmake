# ticopd::plugin is what plug-ins of one's own link (docs/extending.md): headers and flags, and no core. They
# take the core from the program that opens them, so that there is one table of codecs in a process and not
# two. Read by this tree and, installed, by find_package(ticopd).

# ticopd_plugin(NAME FILE...): builds NAME.so for `ticopd --plugin ./NAME.so`.
function(ticopd_plugin name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES PREFIX "")
  target_link_libraries(${name} PRIVATE ticopd::plugin)
  # Without a build type CMake would compile without optimisation.
  target_compile_options(${name} PRIVATE $<$<CONFIG:>:-O3>
    # Two plug-ins may both have a class Mine: GCC's unique symbols would join the two.
    $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
endfunction()
