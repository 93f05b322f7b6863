# Builds libticopd_zmq.so, the sockets of sites. `ticopd network join` opens it, so that the program starts
# on machines without ZeroMQ. It uses only headers of the core, as the MPI part does.
find_path(TICOPD_ZMQ_INCLUDE_DIR zmq.hpp)
find_library(TICOPD_ZMQ_LIBRARY zmq)
if(NOT TICOPD_ZMQ_INCLUDE_DIR OR NOT TICOPD_ZMQ_LIBRARY)
  message(STATUS "No ZeroMQ found: no `ticopd network join` (install libzmq3-dev and cppzmq-dev)")
  return()
endif()

add_library(ticopd_zmq SHARED ${PROJECT_SOURCE_DIR}/ticopd/site/zmq_door.cpp
  ${PROJECT_SOURCE_DIR}/ticopd/site/zmq_sockets.cpp ${PROJECT_SOURCE_DIR}/ticopd/site/zmq_wire.cpp)
set_target_properties(ticopd_zmq PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
target_compile_features(ticopd_zmq PRIVATE cxx_std_20)
target_compile_definitions(ticopd_zmq PRIVATE TICOPD_VERSION="${PROJECT_VERSION}")
target_include_directories(ticopd_zmq PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(ticopd_zmq SYSTEM PRIVATE ${TICOPD_ZMQ_INCLUDE_DIR})
target_link_libraries(ticopd_zmq PRIVATE ${TICOPD_ZMQ_LIBRARY} Threads::Threads ticopd_warnings)
install(TARGETS ticopd_zmq LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
