// Stands for libticopd_mpi.so where a test needs only its name: TICOPD_STUB_LIBRARY.
extern "C" const char* ticopd_mpi_library() {
  return TICOPD_STUB_LIBRARY;
}
