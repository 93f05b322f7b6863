#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <string_view>

#include "ticopd/numeric/noise.hpp"

namespace ticopd {

// A simulated noisy channel: the decoded message plus noise. The noise is drawn from the message
// id, so it is the same at the sender and at every receiver, as in the code of TiCoPD's authors.
// Otherwise receivers could not follow a surrogate at all.
struct ChannelNoise {
  enum class Kind { none, uniform, gaussian };
  friend constexpr std::array<std::string_view, 3> words_of(Kind) {
    return {"none", "uniform", "gaussian"};
  }
  Kind kind = Kind::none;
  double scale = 0;  // uniform on +- scale; gaussian: the standard deviation

  bool any() const { return kind != Kind::none && scale > 0; }

  // Adds the noise of coordinates first, first + 1, ... to q.
  template <class T>
  void add(const MessageId& message, std::size_t first, std::span<T> q) const {
    Noise noise{message};
    noise.channel |= stream_channel;
    Noise::Block block{};
    for (std::size_t i = 0; i < q.size(); ++i) {
      const std::size_t k = first + i;
      if (i == 0 || k % 4 == 0) block = noise.block(static_cast<std::uint32_t>(k / 4));
      q[i] += static_cast<T>(
          scale * (kind == Kind::uniform ? uniform(block[k % 4]) : gaussian(block, k % 4)));
    }
  }

 private:
  static double uniform(std::uint32_t bits) {
    return 2.0 * static_cast<double>(Noise::to_uniform(bits)) - 1.0;
  }

  // Box-Muller: words 0 and 1 of a block give coordinates 0 and 1, words 2 and 3 the others.
  static double gaussian(const Noise::Block& block, std::size_t lane) {
    const double u = (static_cast<double>(block[lane / 2 * 2]) + 0.5) * 0x1p-32;
    const double v = static_cast<double>(block[lane / 2 * 2 + 1]) * 0x1p-32;
    const double angle = 2.0 * std::numbers::pi * v;
    return std::sqrt(-2.0 * std::log(u)) * (lane % 2 == 0 ? std::cos(angle) : std::sin(angle));
  }
};

}  // namespace ticopd
