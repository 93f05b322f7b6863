// Replaces libticopd_mpi.so in tests that need only the library's name, TICOPD_STUB_LIBRARY.
extern "C" const char* ticopd_mpi_library() {
  return TICOPD_STUB_LIBRARY;
}
