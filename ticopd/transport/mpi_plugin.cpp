// The entry points of libticopd_mpi.so, which plugin.cpp looks up.
#include <cstdlib>

#include "ticopd/transport/mpi.hpp"

#define TICOPD_TEXT_(x) #x
#define TICOPD_TEXT(x) TICOPD_TEXT_(x)

extern "C" {

const char* ticopd_mpi_library() {
#if defined(OPEN_MPI)
  return "Open MPI " TICOPD_TEXT(OMPI_MAJOR_VERSION) "." TICOPD_TEXT(
      OMPI_MINOR_VERSION) "." TICOPD_TEXT(OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
  return "MPICH " MPICH_VERSION;
#else
  return "MPI";
#endif
}

// The program and the plug-in share a class: they must have been built from the same headers.
const char* ticopd_mpi_version() {
  return TICOPD_VERSION;
}
unsigned long ticopd_mpi_layout() {
  return sizeof(ticopd::Processes);
}

ticopd::Processes* ticopd_join_mpi(double deadline_s) {
  // Over TCP Open MPI sends 64 kB at once, and the rest when the receiver has asked for it; on a
  // slow link that request waits behind the receiver's own frames (docs/clusters.md has figures). A
  // setting of the user overrides this one.
  setenv("OMPI_MCA_btl_tcp_eager_limit", "1048576", 0);
  int provided = MPI_THREAD_SINGLE, before = 0;
  MPI_Initialized(&before);
  if (before == 0) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  return new ticopd::MpiTransport(MPI_COMM_WORLD, deadline_s, before == 0);
}
}
