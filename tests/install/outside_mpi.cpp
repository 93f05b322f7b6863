// An outside program that uses the MPI transport: mpirun -n 4 outside_mpi, or without mpirun.
#include <cmath>
#include <cstdio>
#include <ticopd/ticopd.hpp>
#include <ticopd/transport/mpi.hpp>

struct Mine : ticopd::Objective<double> {
  int agents() const override { return 8; }
  std::size_t dimension() const override { return 10; }
  double value(int i, std::span<const double> x) const override {
    double sum = 0;
    for (const double v : x) sum += (v - i) * (v - i) / 2;
    return sum;
  }
  void gradient(int i, std::span<const double> x, std::span<double> g) const override {
    for (std::size_t k = 0; k < x.size(); ++k) g[k] = x[k] - i;
  }
};

int main(int argc, char** argv) {
  int threads = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &threads);
  ticopd::MpiTransport transport(MPI_COMM_WORLD);
  ticopd::Setup<double> setup{.graph = ticopd::ring(8), .objective = std::make_shared<Mine>()};
  setup.iterations = 400;
  setup.execution.transport = &transport;
  const auto found = ticopd::solve(ticopd::TiCoPD{.alpha = 0.1, .theta = 2, .eta = 0.4}, setup);
  std::printf("rank %d of %d: agent %d found %.9f\n", transport.rank(), transport.size(),
              found.first_agent, found.x.row(0)[0]);
  transport.close();
  MPI_Finalize();
  return std::abs(found.x.row(0)[0] - 3.5) < 1e-6 ? 0 : 1;
}
