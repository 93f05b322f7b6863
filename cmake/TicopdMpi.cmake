# Builds libticopd_mpi.so. The program opens it under mpirun; other projects link it as ticopd::mpi. It
# uses only headers of the core, so that the two can be built separately.
if(TICOPD_MPI STREQUAL "OFF")
  return()
endif()
if(TICOPD_MPI STREQUAL "AUTO")
  find_package(MPI COMPONENTS CXX QUIET)
else()
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()
if(NOT MPI_CXX_FOUND)
  message(STATUS "No MPI found: ticopd runs on one machine only (install libopenmpi-dev for MPI)")
  return()
endif()

file(GLOB mpi_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ticopd/transport/mpi*.cpp)
add_library(ticopd_mpi SHARED ${mpi_sources})
add_library(ticopd::mpi ALIAS ticopd_mpi)
# With a search path of its own for the build, CMake pads it with an empty entry, which means the current
# folder: a libmpi.so there would be loaded.
set_target_properties(ticopd_mpi PROPERTIES EXPORT_NAME mpi LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
target_compile_features(ticopd_mpi PUBLIC cxx_std_20)
target_compile_definitions(ticopd_mpi PRIVATE TICOPD_VERSION="${PROJECT_VERSION}")
target_include_directories(ticopd_mpi PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(ticopd_mpi PUBLIC MPI::MPI_CXX Threads::Threads
  Random123::Random123 PRIVATE $<BUILD_INTERFACE:ticopd_warnings>)
