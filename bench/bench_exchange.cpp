// Times a round of TiCoPD without its gradients (norm, quantise, pack, unpack, update) on request,
// and compares it with the memory bandwidth.
//
//   bench_exchange --agents N --dimension D [--threads K]
//
// `step` is a round whose gradient costs nothing, `memcpy` copies N x D floats, `triad` is
// a = b + s c over arrays far larger than any cache, `encode` makes N payloads of D coordinates.
// First the program checks that rounds give the same bits with another number of threads.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <vector>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "bench/ask.hpp"
#include "bench/drift.hpp"

namespace {

using namespace ticopd;
using namespace ticopd::bench;

// DRAM traffic of a round of n x d coordinates if nothing fits in a cache, in bytes per coordinate.
// A chunk that is still in a cache when it is read again counts once. Cache lines that stores to
// the payload fetch before they fill them do not count.
//   norm of x - xhat       reads x 4, xhat 4                                          (qsgd.cpp)
//   quantise, pack, apply  reads x 4, xhat 4; writes levels 1, signs 1/8, xhat 4      (qsgd.cpp,
//                          stretch by stretch: unpacking and adding it to xhat finds   mirror.cpp)
//                          the payload and xhat in a cache
//   update                 reads x 4, lambda 4, xhat 4, gradient 4; writes x 4, lambda 4  (cpu.hpp:
//                          all rows of a few columns at a time, so that the neighbours' xhat is in
//                          a cache too)
constexpr double bytes_per_coordinate = 8 + (8 + 1.125 + 4) + (16 + 8);

// Arrays of 160 MB each, in the same kind of memory as the rounds use.
class Triad {
 public:
  static constexpr std::size_t size = 40'000'000, part = 1 << 16;
  static constexpr double bytes = 3.0 * sizeof(float) * size;

  void run(Pool& pool) {
    pool.run((size + part - 1) / part, [&](std::size_t t) {
      const std::size_t first = t * part, count = std::min(part, size - first);
      stretch(a_.data() + first, b_.data() + first, c_.data() + first, count);
    });
  }
  bool right() const {
    return std::ranges::all_of(a_.row(0), [](float v) { return v == 2.5f; });
  }

 private:
  static void stretch(float* a, const float* b, const float* c, std::size_t count) {
    constexpr float s = 0.5f;
    std::size_t k = 0;
#if defined(__SSE2__)
    for (; k + 4 <= count; k += 4)
      _mm_stream_ps(
          a + k, _mm_add_ps(_mm_loadu_ps(b + k), _mm_mul_ps(_mm_set1_ps(s), _mm_loadu_ps(c + k))));
    _mm_sfence();
#endif
    for (; k < count; ++k) a[k] = b[k] + s * c[k];
  }

  static Field<float> filled(float value) {
    Field<float> row(1, size);
    std::ranges::fill(row.row(0), value);
    return row;
  }
  Field<float> a_ = filled(0.0f), b_ = filled(1.0f), c_ = filled(3.0f);
};

// Encodes n rows and checks the payloads against the definition of qsgd.
class Encoder {
 public:
  Encoder(int rows, std::size_t d) : rows_(static_cast<std::size_t>(rows), d) {
    payloads_.resize(rows_.rows());
    for (std::size_t i = 0; i < rows_.rows(); ++i)
      fill(rows_.row(i), static_cast<std::uint32_t>(i), 1.0f);
  }
  void run() {
    ++round_;
    for (std::size_t i = 0; i < rows_.rows(); ++i)
      require(codec_->encode(std::as_const(rows_).row(i), message(i), payloads_[i]),
              "qsgd refuses a row");
  }
  // Without tau, the error of a coordinate is less than one level.
  void check() {
    std::vector<float> q(rows_.cols());
    for (std::size_t i = 0; i < rows_.rows(); ++i) {
      const auto v = std::as_const(rows_).row(i);
      require(codec_->decode(payloads_[i], message(i), q), "qsgd refuses its own payload");
      double norm2 = 0, worst = 0;
      for (std::size_t k = 0; k < q.size(); ++k) {
        norm2 += static_cast<double>(v[k]) * static_cast<double>(v[k]);
        worst = std::max(worst, std::abs(static_cast<double>(q[k]) - static_cast<double>(v[k])));
      }
      require(worst < 1.001 * std::sqrt(norm2) / 255, "qsgd is off by more than a level");
    }
  }

 private:
  MessageId message(std::size_t i) const { return {1, round_, static_cast<std::uint32_t>(i), 0}; }

  std::unique_ptr<Codec<float>> codec_ =
      make_codec<float>({.kind = "qsgd", .bits = 8, .scaled = false});
  Field<float> rows_;
  std::vector<Bytes> payloads_;
  std::uint32_t round_ = 0;
};

void run(int agents, std::size_t d, int threads) {
  constexpr int checked_rounds = 3;
  const Drift drift(agents, d);
  std::string other;
  {
    const auto pool = make_pool(threads == 1 ? 2 : 1);
    const auto rounds = make_rounds(drift, *pool);
    rounds->steps(checked_rounds);
    other = rounds->digest();
  }
  const auto pool = make_pool(threads);
  const auto rounds = make_rounds(drift, *pool);
  rounds->steps(checked_rounds);
  require(rounds->digest() == other, "rounds have other bits with another number of threads");

  const std::size_t floats = static_cast<std::size_t>(agents) * d;
  std::vector<float> from, to;
  std::unique_ptr<Triad> triad;
  std::unique_ptr<Encoder> encoder;
  const double coordinates = static_cast<double>(floats);
  say({{"step_bytes", bytes_per_coordinate * coordinates},
       {"bytes_per_coordinate", bytes_per_coordinate},
       {"triad_bytes", Triad::bytes},
       {"encode_bytes", coordinates * sizeof(float)}});
  // Each action allocates its data at the first call; run.py drops the first times.
  answer({{"step", [&] { rounds->step(); }},
          {"memcpy",
           [&] {
             if (from.empty()) from.resize(floats, 1.0f), to.resize(floats);
             std::memcpy(to.data(), from.data(), floats * sizeof(float));
           }},
          {"triad",
           [&] {
             if (!triad) triad = std::make_unique<Triad>();
             triad->run(*pool);
           }},
          {"encode", [&] {
             if (!encoder) encoder = std::make_unique<Encoder>(agents, d);
             encoder->run();
           }}});
  require(rounds->finite(), "the state is not finite");
  require(from == to, "memcpy did not copy");
  require(!triad || triad->right(), "the triad is wrong");
  if (encoder) encoder->check();
  say({{"digest", rounds->digest()}});
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("A round of TiCoPD without its gradients, timed when asked");
  int agents = 0, threads = 1;
  std::size_t dimension = 0;
  app.add_option("--agents", agents)->required()->check(CLI::Range(3, 1000));
  app.add_option("--dimension", dimension)->required()->check(CLI::PositiveNumber);
  app.add_option("--threads", threads)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, count, words);
  return guarded("bench_exchange", [&] { run(agents, dimension, threads); });
}
