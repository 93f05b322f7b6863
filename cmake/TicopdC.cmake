# Builds libticopd.so: the C interface (ticopd/capi/ticopd.h) with the core linked in. Python loads it, and
# so can Julia, R or Rust; C programs link it as ticopd::c.
#
# Its name has no version. Most users open it with dlopen, where a versioned name is one more thing to get
# wrong; functions are only added, and a program checks tc_abi() == TC_ABI.
file(GLOB c_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ticopd/capi/*.cpp)
set(c_exports ${PROJECT_SOURCE_DIR}/ticopd/capi/exports.map)
add_library(ticopd_c SHARED ${c_sources})
add_library(ticopd::c ALIAS ticopd_c)
# BUILD_WITH_INSTALL_RPATH: as for the MPI plug-in, no empty entry in the search path. In a Python package
# the libraries that this one needs lie beside it.
set_target_properties(ticopd_c PROPERTIES EXPORT_NAME c OUTPUT_NAME ticopd
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN"
  INSTALL_RPATH_USE_LINK_PATH ON LINK_DEPENDS ${c_exports})
target_compile_definitions(ticopd_c PRIVATE TICOPD_VERSION="${PROJECT_VERSION}")
target_include_directories(ticopd_c INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(ticopd_c PRIVATE ticopd::core ticopd_warnings fmt::fmt nlohmann_json::nlohmann_json)
# It exports tc_* and nothing else: another library of the same process may have an {fmt} or C++ templates
# of its own. It stays loaded to the end of the process, since its threads may still run after a dlclose.
target_link_options(ticopd_c PRIVATE -Wl,--version-script=${c_exports} -Wl,-z,nodelete)
if(NOT TICOPD_SANITIZE)  # the program brings the symbols of a sanitizer
  target_link_options(ticopd_c PRIVATE -Wl,--no-undefined)
endif()
