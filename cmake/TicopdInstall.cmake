# Rules for cmake --install, and the package files for find_package(ticopd).
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ticopd)

install(TARGETS ticopd_core EXPORT ticopd-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(header ${TICOPD_PUBLIC_HEADERS})
  get_filename_component(folder ticopd/${header} DIRECTORY)
  install(FILES ticopd/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
install(EXPORT ticopd-targets NAMESPACE ticopd:: DESTINATION ${package_dir})
# The C interface apart: a C program needs nothing of what the C++ headers include.
install(TARGETS ticopd_c EXPORT ticopd-c-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ticopd/capi/ticopd.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ticopd/capi)
install(EXPORT ticopd-c-targets NAMESPACE ticopd:: DESTINATION ${package_dir})
if(TARGET ticopd_mpi)
  install(TARGETS ticopd_mpi EXPORT ticopd-mpi-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT ticopd-mpi-targets NAMESPACE ticopd:: DESTINATION ${package_dir})
endif()

if(TARGET ticopd_watch)
  install(TARGETS ticopd_watch LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

configure_package_config_file(cmake/ticopd-config.cmake.in ticopd-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(ticopd-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ticopd-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/ticopd-config-version.cmake
  cmake/FindRandom123.cmake cmake/FindxxHash.cmake DESTINATION ${package_dir})

# What a Python package holds of the build (python/build_backend.py): its own component, so that a plain
# cmake --install leaves it out.
install(TARGETS ticopd_c LIBRARY DESTINATION lib COMPONENT python EXCLUDE_FROM_ALL)
if(TARGET ticopd_mpi)
  install(TARGETS ticopd_mpi LIBRARY DESTINATION lib COMPONENT python EXCLUDE_FROM_ALL)
endif()
if(TARGET ticopd)
  install(TARGETS ticopd RUNTIME DESTINATION bin COMPONENT python EXCLUDE_FROM_ALL)
endif()
