#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "ticopd/data/synthetic.hpp"
#include "ticopd/error.hpp"
#include "ticopd/numeric/noise.hpp"

namespace ticopd {
namespace {

constexpr int side = 28;
constexpr std::uint32_t part_digits = 5;  // beside the parts of synthetic.cpp

struct Point {
  double x, y;
};
using Stroke = std::vector<Point>;

// Part of an ellipse; angles in turns, 0 to the right and growing downwards as pixel rows do.
Stroke arc(Point centre, double rx, double ry, double from, double to) {
  Stroke stroke;
  constexpr int pieces = 10;
  for (int k = 0; k <= pieces; ++k) {
    const double angle = 2 * std::numbers::pi * (from + (to - from) * k / pieces);
    stroke.push_back({centre.x + rx * std::cos(angle), centre.y + ry * std::sin(angle)});
  }
  return stroke;
}

// The glyphs in a box from (-1, -1) at the top left to (1, 1).
std::array<std::vector<Stroke>, 10> make_glyphs() {
  std::array<std::vector<Stroke>, 10> g;
  g[0] = {arc({0, 0}, 0.65, 0.95, 0, 1)};
  g[1] = {{{-0.3, -0.6}, {0.1, -0.95}, {0.1, 0.95}}};
  g[2] = {arc({0, -0.4}, 0.6, 0.55, -0.5, 0.1), {{0.48, -0.08}, {-0.6, 0.9}, {0.65, 0.9}}};
  g[3] = {arc({-0.05, -0.47}, 0.55, 0.48, -0.4, 0.25), arc({-0.05, 0.45}, 0.62, 0.5, -0.25, 0.4)};
  g[4] = {{{0.25, 0.95}, {0.25, -0.95}, {-0.65, 0.3}, {0.65, 0.3}}};
  g[5] = {{{0.55, -0.9}, {-0.45, -0.9}, {-0.5, -0.1}}, arc({-0.02, 0.35}, 0.6, 0.58, -0.37, 0.4)};
  g[6] = {{{0.4, -0.95}, {-0.2, -0.5}, {-0.55, 0.2}}, arc({0, 0.4}, 0.57, 0.52, 0, 1)};
  g[7] = {{{-0.6, -0.9}, {0.6, -0.9}, {-0.1, 0.95}}};
  g[8] = {arc({0, -0.48}, 0.47, 0.45, 0, 1), arc({0, 0.46}, 0.58, 0.5, 0, 1)};
  g[9] = {arc({0, -0.4}, 0.55, 0.52, 0, 1), {{0.55, -0.35}, {0.45, 0.3}, {0.2, 0.95}}};
  return g;
}

double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  const double t =
      length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0.0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

// How one writer bends the box: an affine map to pixels and a wobble of each point.
class Hand {
 public:
  explicit Hand(Generator& random)
      : width_(within(random, 6.5, 9.5)),
        height_(within(random, 8, 10)),
        slant_(within(random, -0.1, 0.35)),
        turn_(within(random, -0.15, 0.15)),
        centre_{13.5 + within(random, -2, 2), 13.5 + within(random, -2, 2)} {}

  Point operator()(Point p, Generator& random) const {
    const double x = (p.x - slant_ * p.y + 0.05 * random.normal()) * width_;
    const double y = (p.y + 0.05 * random.normal()) * height_;
    return {centre_.x + x * std::cos(turn_) - y * std::sin(turn_),
            centre_.y + x * std::sin(turn_) + y * std::cos(turn_)};
  }

  static double within(Generator& random, double low, double high) {
    return low + (high - low) * random.uniform();
  }

 private:
  double width_, height_, slant_, turn_;
  Point centre_;
};

void draw(const std::vector<Stroke>& glyph, Generator& random, std::uint8_t* pixels) {
  const Hand hand(random);
  const double pen = Hand::within(random, 0.7, 1.7);
  const double brightness = Hand::within(random, 170, 255);
  std::array<double, side * side> ink{};
  for (const Stroke& stroke : glyph) {
    Point last{};
    for (std::size_t k = 0; k < stroke.size(); ++k) {
      const Point next = hand(stroke[k], random);
      if (k > 0)
        for (int pixel = 0; pixel < side * side; ++pixel) {
          const Point p{static_cast<double>(pixel % side), static_cast<double>(pixel / side)};
          // Full inside the pen, fading over one pixel at its edge.
          double& i = ink[static_cast<std::size_t>(pixel)];
          i = std::max(i, std::clamp(pen + 0.5 - distance(p, last, next), 0.0, 1.0));
        }
      last = next;
    }
  }
  for (std::size_t pixel = 0; pixel < ink.size(); ++pixel) {
    const double grain = ink[pixel] > 0 ? 20 * random.normal() : 0;
    pixels[pixel] =
        static_cast<std::uint8_t>(std::clamp(brightness * ink[pixel] + grain, 0.0, 255.0));
  }
}

// Samples [first, first + count).
template <class T>
Reading<T> written(std::size_t first, std::size_t count, std::uint64_t seed) {
  return [=](const Wanted& wanted, const Take<T>& take) {
    const auto glyphs = make_glyphs();
    Contents found{std::vector<double>(count), side * side};
    std::array<std::uint8_t, side * side> pixels;
    for (std::size_t s = 0; s < count; ++s) {
      const std::size_t digit = (first + s) % glyphs.size();
      found.labels[s] = static_cast<double>(digit);
      if (!wanted(s)) continue;
      Generator random(
          Noise{seed, static_cast<std::uint32_t>(first + s), part_digits, stream_synthetic});
      draw(glyphs[digit], random, pixels.data());
      take(std::span<const std::uint8_t>(pixels));
    }
    return found;
  };
}

}  // namespace

template <class T>
SampleSource<T> digits_source(std::size_t samples, std::uint64_t seed) {
  if (samples < 1 || samples > 10'000'000)
    throw ConfigError(fmt::format("problem.samples = {}: digits allow 1 ... 10000000", samples));
  return {written<T>(0, samples, seed), written<T>(samples, samples / 6, seed),
          [](Contents&, Contents&) { return 10; }};
}

template <class T>
TrainTest<T> digits(std::size_t samples, std::uint64_t seed) {
  TrainTest<T> data = gather(digits_source<T>(samples, seed));
  data.name = "digits";
  return data;
}

template SampleSource<float> digits_source(std::size_t, std::uint64_t);
template SampleSource<double> digits_source(std::size_t, std::uint64_t);
template TrainTest<float> digits(std::size_t, std::uint64_t);
template TrainTest<double> digits(std::size_t, std::uint64_t);

}  // namespace ticopd
