// One iteration's gradients of the paper's problem, timed when asked: ten agents, 784-100-10
// sigmoid perceptron, 60,000 images split by label.
//
//   bench_gradient --folder DIR [--threads K]
//
// DIR must be there. It receives images.u8, labels.u8 (the shards one after the other), point.f32
// and gradients.f32 (ten rows), so that a peer can compute the same thing and be compared. The
// images are MNIST's (fetched if need be), or without them random ones with its share of zeros.
// Then every line on the standard input, `gradient` or `iteration` (a whole round of TiCoPD,
// messages and update included), runs that once and prints {"ms": ...}; the end of the input ends
// the program. So a peer can be timed in turns with it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/data/fetch.hpp"
#include "ticopd/data/idx.hpp"
#include "ticopd/data/partition.hpp"
#include "ticopd/error.hpp"
#include "ticopd/network/cpu.hpp"
#include "ticopd/objectives/blas.hpp"
#include "ticopd/objectives/registry.hpp"

namespace {

using namespace ticopd;
namespace fs = std::filesystem;

constexpr int agents = 10;

template <class V>
void save(const fs::path& path, const std::vector<V>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(V)));
  if (!file) throw std::runtime_error(path.string() + ": cannot be written");
}

// Four of five pixels are zero, more of them near the border, as in MNIST. No column is zero.
TrainTest<float> random_images() {
  constexpr std::size_t images = 60000, pixels = 784;
  Generator draw(Noise{1, 0, 0, stream_synthetic});
  std::vector<std::uint8_t> bytes(images * pixels);
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    const double row = static_cast<double>(k % pixels / 28) / 13.5 - 1.0;
    const double column = static_cast<double>(k % 28) / 13.5 - 1.0;
    const double ink = 0.55 - 0.5 * std::max(row * row, column * column);
    const std::uint32_t bits = draw.bits();
    if (Noise::to_uniform(bits) < ink) bytes[k] = static_cast<std::uint8_t>(1 + bits % 255);
  }
  std::vector<double> labels(images);
  for (std::size_t i = 0; i < images; ++i) labels[i] = static_cast<double>(i % agents);
  return {{images, pixels, std::move(bytes), std::move(labels)}, {}, 10, "random images"};
}

TrainTest<float> images() {
  try {
    TrainTest<float> mnist = read_idx_folder<float>(fetch_mnist(false));
    mnist.name = "MNIST";
    return mnist;
  } catch (const UnavailableError&) {
    return random_images();
  }
}

struct Problem {
  std::unique_ptr<Objective<float>> objective;
  std::vector<float> point;
  std::string data;
};

Problem make_problem(const fs::path& folder) {
  const TrainTest<float> data = images();
  std::vector<Dataset<float>> shards;
  std::vector<std::uint8_t> pixels, labels;
  for (const auto& samples : partition(data.train.labels(), 10, agents, Partition::label, 0, 1)) {
    shards.push_back(data.train.select(samples));
    const auto& bytes = std::get<std::vector<std::uint8_t>>(shards.back().raw());
    pixels.insert(pixels.end(), bytes.begin(), bytes.end());
    for (const double label : shards.back().labels())
      labels.push_back(static_cast<std::uint8_t>(label));
  }
  save(folder / "images.u8", pixels);
  save(folder / "labels.u8", labels);

  Problem problem{make_objective<float>({}, std::move(shards), {}, 10), {}, data.name};
  problem.point.resize(problem.objective->dimension());
  problem.objective->start(1, problem.point);
  save(folder / "point.f32", problem.point);
  return problem;
}

// All ten agents in this process, as a run has them: TiCoPD with 8-bit messages on a ring.
class Network {
 public:
  Network(const Problem& problem, int threads)
      : pool_(threads),
        net_({.graph = graph_,
              .objective = *problem.objective,
              .codec = *codec_,
              .transport = alone_,
              .pool = pool_}),
        run_({.alpha = 0.3, .theta = 0.3333, .eta = 0.0333, .beta = 0.6}, net_),
        start_(net_.start()),
        gradient_(net_.field()) {}

  const Field<float>& gradient() {
    net_.gradient(start_, gradient_);
    return gradient_;
  }
  void iteration() {
    net_.begin_round(net_.round() + 1);
    run_.step();
  }

 private:
  Graph graph_ = ring(agents);
  std::unique_ptr<Codec<float>> codec_ = make_codec<float>({.kind = "qsgd", .bits = 8});
  Alone alone_;
  Pool pool_;
  CpuNetwork<float> net_;
  TiCoPD::Run<CpuNetwork<float>> run_;
  Field<float> start_, gradient_;
};

int run(const fs::path& folder, int threads) {
  const Problem problem = make_problem(folder);
  Network network(problem, threads);
  const Field<float>& g = network.gradient();
  save(folder / "gradients.f32", std::vector<float>(g.data(), g.data() + g.size()));
  std::cout << "{\"kernel\": \"" << blas_name() << "\", \"data\": \"" << problem.data << "\"}"
            << std::endl;
  for (std::string what; std::getline(std::cin, what);) {
    const auto begin = std::chrono::steady_clock::now();
    if (what == "iteration")
      network.iteration();
    else
      network.gradient();
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - begin;
    std::cout << "{\"ms\": " << spent.count() << "}" << std::endl;
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  fs::path folder;
  int threads = 1;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::string_view(words[i]) == "--folder")
      folder = words[i + 1];
    else if (std::string_view(words[i]) == "--threads")
      threads = std::atoi(words[i + 1]);
  }
  if (folder.empty() || threads < 1) {
    std::fprintf(stderr, "usage: bench_gradient --folder DIR [--threads K]\n");
    return 64;
  }
  try {
    return run(folder, threads);
  } catch (const std::exception& trouble) {
    std::fprintf(stderr, "bench_gradient: %s\n", trouble.what());
    return 70;
  }
}
