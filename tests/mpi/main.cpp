// Every process that mpirun started runs the same tests. Rank 0 prints, and all processes fail if
// one fails.
#include <gtest/gtest.h>

#include <cstdio>

#include "mpi/world.hpp"

namespace {

class FailuresOnly final : public ::testing::EmptyTestEventListener {
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d\n%s\n", ticopd::dense::world_rank(), result.file_name(),
                 result.line_number(), result.summary());
  }
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  ::testing::InitGoogleTest(&argc, argv);
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (ticopd::dense::world_rank() > 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly);
  }
  int mine = RUN_ALL_TESTS(), worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return worst;
}
