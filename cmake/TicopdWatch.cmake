# Builds libticopd_watch.so, the server of `ticopd watch`, where cpp-httplib is found. It is a library of its
# own, so that no other command loads what an HTTP library needs.
find_path(TICOPD_HTTPLIB_INCLUDE httplib.h)
find_library(TICOPD_HTTPLIB_LIBRARY cpp-httplib)  # Debian splits it; elsewhere the header is all
if(NOT TICOPD_HTTPLIB_INCLUDE)
  message(STATUS "No `ticopd watch`: cpp-httplib was not found (Debian: libcpp-httplib-dev)")
  return()
endif()

add_library(ticopd_watch SHARED ${PROJECT_SOURCE_DIR}/ticopd/live/http_server.cpp)
set_target_properties(ticopd_watch PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
target_compile_features(ticopd_watch PRIVATE cxx_std_20)
target_compile_definitions(ticopd_watch PRIVATE TICOPD_VERSION="${PROJECT_VERSION}")
target_include_directories(ticopd_watch PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(ticopd_watch SYSTEM PRIVATE ${TICOPD_HTTPLIB_INCLUDE})
target_link_libraries(ticopd_watch PRIVATE ticopd_warnings Threads::Threads)
if(TICOPD_HTTPLIB_LIBRARY)
  # As the library was built (its .pc file says it): the layout of its classes depends on it.
  target_compile_definitions(ticopd_watch PRIVATE CPPHTTPLIB_OPENSSL_SUPPORT)
  target_link_libraries(ticopd_watch PRIVATE ${TICOPD_HTTPLIB_LIBRARY})
endif()
