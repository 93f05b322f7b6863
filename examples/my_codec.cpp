// Your own codec: two bytes per coordinate, the upper half of a float (truncated bfloat16). ENC
// makes real bytes, and DEC reads only them. With TiCoPD the codec costs no accuracy: TiCoPD
// compresses the difference to a surrogate, and that difference vanishes.
#include <bit>
#include <cmath>
#include <cstdio>

#include "ticopd/ticopd.hpp"

namespace {

using ticopd::Bytes;
using ticopd::MessageId;

template <class T>
class Truncated final : public ticopd::Codec<T> {
 public:
  // The codec table constructs a codec from the options in a config. This codec has no options.
  explicit Truncated(const ticopd::CodecOptions& = {}) {}

  // `message` names seed, round, agent and channel: a random codec draws Noise{message}.uniform(k)
  // from it.
  bool encode(std::span<const T> v, const MessageId&, Bytes& out) const override {
    out.resize(payload_bytes(v.size()));
    for (std::size_t k = 0; k < v.size(); ++k) {
      const auto f = static_cast<float>(v[k]);
      if (!std::isfinite(f)) return false;  // never send a NaN; the run stops and names the agent
      const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
      out[2 * k] = static_cast<std::byte>(bits >> 16);  // little endian, on any machine
      out[2 * k + 1] = static_cast<std::byte>(bits >> 24);
    }
    return true;
  }

  // The bytes come from outside, so reject bytes that encode() cannot have made.
  bool decode(std::span<const std::byte> in, const MessageId&, std::span<T> q) const override {
    if (in.size() != payload_bytes(q.size())) return false;
    for (std::size_t k = 0; k < q.size(); ++k) {
      const std::uint32_t bits = std::to_integer<std::uint32_t>(in[2 * k]) << 16 |
                                 std::to_integer<std::uint32_t>(in[2 * k + 1]) << 24;
      const float f = std::bit_cast<float>(bits);
      if (!std::isfinite(f)) return false;
      q[k] = static_cast<T>(f);
    }
    return true;
  }

  std::size_t payload_bytes(std::size_t d) const override { return 2 * d; }
  double paper_bits(std::size_t d) const override { return 16.0 * static_cast<double>(d); }

  // Seven stored bits of mantissa remain, so |Q(v) - v| <= 2^-7 |v| for each coordinate.
  ticopd::ErrorBound error_bound(std::size_t) const override { return {0x1p-14}; }
};

// f_i(x) = ||x - c_i||^2 / 2, where each agent has its own c_i; the optimum is the mean of the c_i.
struct Centres final : ticopd::Objective<double> {
  static double centre(int agent, std::size_t k) { return std::sin(1.7 * agent + 0.3 * double(k)); }
  int agents() const override { return 6; }
  std::size_t dimension() const override { return 50; }
  double value(int i, std::span<const double> x) const override {
    double sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += std::pow(x[k] - centre(i, k), 2) / 2;
    return sum;
  }
  void gradient(int i, std::span<const double> x, std::span<double> g) const override {
    for (std::size_t k = 0; k < x.size(); ++k) g[k] = x[k] - centre(i, k);
  }
};

double distance_to_optimum(const ticopd::Field<double>& x) {
  double worst = 0;
  for (std::size_t k = 0; k < x.cols(); ++k) {
    double mean = 0;
    for (int i = 0; i < 6; ++i) mean += Centres::centre(i, k) / 6;
    for (std::size_t i = 0; i < x.rows(); ++i)
      worst = std::max(worst, std::abs(x.row(i)[k] - mean));
  }
  return worst;
}

}  // namespace

int main() {
  const auto codec = std::make_shared<Truncated<double>>();
  ticopd::Setup<double> setup{.graph = ticopd::ring(6), .objective = std::make_shared<Centres>()};
  setup.codec = codec;
  setup.iterations = 400;
  const ticopd::TiCoPD steps{.alpha = 0.1, .theta = 2, .eta = 0.4};
  const auto found = ticopd::solve(steps, setup);
  const double off = distance_to_optimum(found.x);
  std::printf("TiCoPD over 2-byte messages is %.1e away from the optimum\n", off);

  // The ledger counts the bytes that encode() made: one message per round.
  bool counted = found.ledger.size() == 6;
  for (const auto& agent : found.ledger)
    counted = counted && agent.messages == setup.iterations &&
              agent.payload_bytes == agent.messages * codec->payload_bytes(50);
  std::printf("each agent sent %llu messages, %llu bytes\n",
              static_cast<unsigned long long>(found.ledger[0].messages),
              static_cast<unsigned long long>(found.ledger[0].payload_bytes));

  // Over ranks the receivers decode real frames. The hash in each frame proves that they got the
  // same row.
  setup.execution.ranks = 3;
  const bool same = ticopd::solve(steps, setup).digest == found.digest;
  return off < 1e-12 && counted && same ? 0 : 1;
}
