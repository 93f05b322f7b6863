// The peer of bench/python/small.py: rounds and payloads that Python makes too, from C++ alone.
//
//   bench_python
//
// `rounds` makes 2,000 rounds of TiCoPD with 4-bit messages on a ring of 8 agents, d = 100, with an
// objective like the one in Python; `codec` encodes and decodes a row of 79,510 numbers 500 times.
// The first line has the digest of the rounds and the payload's length, so that both can be compared.
#include "bench/ask.hpp"
#include "bench/drift.hpp"
#include "ticopd/algorithms/run_factory.hpp"
#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/run/run.hpp"

namespace {

using namespace ticopd;
using namespace ticopd::bench;

constexpr int agents = 8, repeats = 500;
constexpr std::uint32_t rounds_of_a_turn = 2000;
constexpr std::size_t row = 79510;

// Agent i wants every coordinate to be i.
struct Distance : Objective<float> {
  int agents() const override { return ::agents; }
  std::size_t dimension() const override { return 100; }
  double value(int i, std::span<const float> x) const override {
    double sum = 0;
    for (const float v : x) sum += 0.5 * (v - static_cast<float>(i)) * (v - static_cast<float>(i));
    return sum;
  }
  void gradient(int i, std::span<const float> x, std::span<float> g) const override {
    for (std::size_t k = 0; k < x.size(); ++k) g[k] = x[k] - static_cast<float>(i);
  }
};

Run<float> make_run() {
  Setup<float> setup{.graph = ring(agents),
                     .objective = std::make_shared<Distance>(),
                     .codec = make_codec<float>({.kind = "qsgd", .bits = 4}),
                     .iterations = 1'000'000'000};
  setup.execution.may_pin = false;  // as from Python
  setup.watch.level = MetricLevel::rows;
  setup.watch.rounds.every = 1'000'000;
  return {run_factory<float>(TiCoPD{.alpha = 0.1, .theta = 2, .eta = 0.4, .beta = 0.2}), std::move(setup)};
}

// Encodes and decodes a row, message after message.
class Payloads {
 public:
  Payloads() { fill(v_, 0, 1.0f); }
  void run() {
    for (int i = 0; i < repeats; ++i) {
      const MessageId message{1, ++round_, 0, 0};
      require(codec_->encode(v_, message, payload_), "qsgd refuses a row");
      require(codec_->decode(payload_, message, w_), "qsgd refuses its own payload");
    }
  }
  std::size_t bytes() const { return payload_.size(); }

 private:
  std::unique_ptr<Codec<float>> codec_ = make_codec<float>({.kind = "qsgd", .bits = 8});
  std::vector<float> v_ = std::vector<float>(row), w_ = std::vector<float>(row);
  Bytes payload_;
  std::uint32_t round_ = 0;
};

}  // namespace

int main() {
  return guarded("bench_python", [] {
    Run<float> checked = make_run();
    checked.step(rounds_of_a_turn);
    Payloads payloads;
    payloads.run();
    Run<float> run = make_run();
    say({{"digest", checked.digest()},
         {"rounds", rounds_of_a_turn},
         {"codec_repeats", repeats},
         {"payload", payloads.bytes()}});
    answer({{"rounds", [&] { run.step(rounds_of_a_turn); }}, {"codec", [&] { payloads.run(); }}});
    say({{"round", run.round()}});
  });
}
