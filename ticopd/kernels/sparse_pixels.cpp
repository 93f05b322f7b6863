// Images as lists of inked pixels: two bytes for each, its place and its value. Four of five pixels
// have no ink, so this skips more work than any dense tile can. Both products are sums of rows: z
// of a sample is the sum of the weights of its pixels, the gradient of a pixel the sum of the
// deltas of its samples. A row has all outputs and stays in registers while it is summed. The
// summands must come from the first-level cache to keep up. So the forward product works on blocks
// of pixels whose weights fit there, the backward product on groups of 64 samples whose deltas fit,
// and each has its own list of the ink, in the order in which it is read. Pixels are sorted by
// falling number of samples that have them: blocks of frequent pixels have long lists, blocks of
// rare ones mostly none.
#include <algorithm>
#include <array>
#include <utility>

#include "ticopd/kernels/features.hpp"
#include "ticopd/kernels/sparse_sums.hpp"
#include "ticopd/kernels/staircase.hpp"

namespace ticopd {
namespace {

constexpr std::size_t group_samples = Features<float>::cut;  // 64: their places fit in a byte
constexpr std::size_t tile_groups = 4;
constexpr std::size_t tile_samples = tile_groups * group_samples;
constexpr std::size_t first_cache = 28 << 10;  // of 32 KiB, on processors that have no more

class SparsePixels final : public Features<float> {
 public:
  SparsePixels(const Dataset<float>& data, std::size_t outputs, Sweeps sweeps)
      : Features<float>(data.samples(), data.features(), outputs),
        width_(panel_width(outputs)),
        panels_((outputs + width_ - 1) / width_),
        block_pixels_(std::clamp<std::size_t>(first_cache / (width_ * sizeof(float)), 16, 255)) {
    const auto& x = std::get<std::vector<std::uint8_t>>(data.raw());
    pixels_ = staircase(x, samples_, features_).pixels;
    places_.assign(features_, no_place);
    for (std::size_t r = 0; r < pixels_.size(); ++r)
      places_[pixels_[r]] = static_cast<std::uint32_t>(r);
    blocks_ = (pixels_.size() + block_pixels_ - 1) / block_pixels_;
    list_forward(x);
    if (sweeps == Sweeps::gradients) list_backward(x);
  }

  void sweep(std::size_t first, std::size_t last, const float* w, const Middle& middle,
             float* g) const override {
    struct Weights;
    struct Gradient;
    struct Rows;
    struct Outputs;
    constexpr std::size_t stride = lane_stride(tile_samples);
    const std::size_t panel = pixels_.size() * width_;  // floats
    float* weights = scratch<float, Weights>(panels_ * panel);
    float* rows = scratch<float, Rows>(tile_samples * width_);
    float* z = scratch<float, Outputs>(panels_ * width_ * stride);
    for (std::size_t p = 0; p < panels_; ++p) take_panel(w, p, weights + p * panel);
    float* sums = nullptr;
    if (g != nullptr) {
      sums = scratch<float, Gradient>(panels_ * panel);
      std::fill_n(sums, panels_ * panel, 0.0f);
    }
    for (; first < last; first += tile_samples) {
      const std::size_t count = std::min(tile_samples, last - first);
      const std::size_t whole = whole_groups(count);
      for (std::size_t p = 0; p < panels_; ++p) {
        std::fill_n(rows, whole * width_, 0.0f);
        forward(first, count, weights + p * panel, rows);
        transpose(rows, width_, whole, width_, z + p * width_ * stride, stride);
      }
      middle(first, {z, stride, count});
      for (std::size_t p = 0; g != nullptr && p < panels_; ++p) {
        transpose(z + p * width_ * stride, stride, width_, whole, rows, width_);
        backward(first, count, rows, sums + p * panel);
      }
    }
    if (g != nullptr) put_panels(sums, g);
  }

  std::vector<LayoutBytes> layouts() const override {
    std::vector<LayoutBytes> parts{{"ink by sample", bytes_of(forward_)}};
    if (!backward_.counts.empty()) parts.push_back({"ink by pixel", bytes_of(backward_)});
    return parts;
  }

 protected:
  void read(std::span<const std::uint32_t> positions, float* rows) const override {
    std::fill_n(rows, positions.size() * features_, 0.0f);
    for (const std::uint32_t position : positions) {
      const std::size_t group = position / group_samples, at = position % group_samples;
      for (std::size_t b = 0; b < blocks_; ++b) {
        const std::size_t list = group * blocks_ + b;
        const std::uint8_t* counts = &forward_.counts[list * group_samples];
        const std::uint8_t* place = forward_.ink.data() + forward_.begin[list];
        for (std::size_t i = 0; i < at; ++i) place += 2 * counts[i];
        const std::uint8_t* value = place + counts[at];
        for (std::size_t e = 0; e < counts[at]; ++e)
          rows[pixels_[b * block_pixels_ + place[e]]] = static_cast<float>(value[e]) / 255.0f;
      }
      rows += features_;
    }
  }

 private:
  // Lists one after another; `begin` is where each run of lists starts.
  struct Lists {
    std::vector<std::uint8_t> ink;
    std::vector<std::uint8_t> counts;
    std::vector<std::size_t> begin;

    void reserve(std::size_t pixels, std::size_t lists) {
      ink.reserve(2 * pixels + ink_margin);
      counts.reserve(lists);
    }
    // The pixels with ink among those that value(place) gives, for places below `count`.
    template <class Value>
    void add(std::size_t count, const Value& value) {
      std::array<std::uint8_t, 256> values;
      std::size_t inked = 0;
      for (std::size_t place = 0; place < count; ++place)
        if (const std::uint8_t v = value(place); v != 0) {
          ink.push_back(static_cast<std::uint8_t>(place));
          values[inked++] = v;
        }
      ink.insert(ink.end(), values.begin(), values.begin() + inked);
      counts.push_back(static_cast<std::uint8_t>(inked));
    }
    void finish() { ink.resize(ink.size() + ink_margin); }
  };

  static std::size_t bytes_of(const Lists& lists) {
    return lists.ink.size() + lists.counts.size() + lists.begin.size() * sizeof(std::size_t);
  }

  std::size_t groups() const { return (samples_ + group_samples - 1) / group_samples; }

  // By group of samples, block of pixels, sample. The last group is filled up with empty samples.
  void list_forward(const std::vector<std::uint8_t>& x) {
    forward_.reserve(inked(x), groups() * blocks_ * group_samples);
    for (std::size_t group = 0; group < groups(); ++group)
      for (std::size_t b = 0; b < blocks_; ++b) {
        forward_.begin.push_back(forward_.ink.size());
        const std::uint32_t* pixel = pixels_.data() + b * block_pixels_;
        const std::size_t count = std::min(block_pixels_, pixels_.size() - b * block_pixels_);
        for (std::size_t i = group * group_samples; i < (group + 1) * group_samples; ++i)
          forward_.add(i < samples_ ? count : 0,
                       [&](std::size_t place) { return x[i * features_ + pixel[place]]; });
      }
    forward_.finish();
  }

  // By group of samples, pixel.
  void list_backward(const std::vector<std::uint8_t>& x) {
    backward_.reserve(forward_.ink.size() / 2, groups() * pixels_.size());
    for (std::size_t group = 0; group < groups(); ++group) {
      backward_.begin.push_back(backward_.ink.size());
      const std::size_t begin = group * group_samples;
      const std::size_t count = std::min(group_samples, samples_ - begin);
      for (const std::uint32_t pixel : pixels_)
        backward_.add(count,
                      [&](std::size_t place) { return x[(begin + place) * features_ + pixel]; });
    }
    backward_.finish();
  }

  static std::size_t inked(const std::vector<std::uint8_t>& x) {
    return x.size() - static_cast<std::size_t>(std::count(x.begin(), x.end(), std::uint8_t{0}));
  }

  // rows[i] += the weights of the pixels of sample first + i
  void forward(std::size_t first, std::size_t count, const float* weights, float* rows) const {
    const std::size_t group = first / group_samples;
    for (std::size_t b = 0; b < blocks_; ++b)
      for (std::size_t i = 0; i < count; i += group_samples) {
        const std::size_t list = (group + i / group_samples) * blocks_ + b;
        add_ink(&forward_.counts[list * group_samples], std::min(group_samples, count - i),
                forward_.ink.data() + forward_.begin[list], weights + b * block_pixels_ * width_,
                width_, rows + i * width_);
      }
  }

  // sums[pixel] += the deltas of the samples that have it
  void backward(std::size_t first, std::size_t count, const float* deltas, float* sums) const {
    for (std::size_t i = 0; i < count; i += group_samples) {
      const std::size_t group = (first + i) / group_samples;
      add_ink(backward_.counts.data() + group * pixels_.size(), pixels_.size(),
              backward_.ink.data() + backward_.begin[group], deltas + i * width_, width_, sums);
    }
  }

  void take_panel(const float* w, std::size_t panel, float* weights) const {
    const std::size_t first = panel * width_;
    place_columns(w + first * features_, std::min(width_, outputs_ - first), features_,
                  places_.data(), weights, width_);
  }

  void put_panels(const float* sums, float* g) const {
    std::fill_n(g, outputs_ * features_, 0.0f);
    for (std::size_t j = 0; j < outputs_; j += lane_group) {
      const std::size_t real = std::min(lane_group, outputs_ - j);
      const float* from = sums + j / width_ * pixels_.size() * width_ + j % width_;
      for (std::size_t r = 0; r < pixels_.size(); ++r, from += width_)
        for (std::size_t k = 0; k < real; ++k) g[(j + k) * features_ + pixels_[r]] = from[k];
    }
  }

  std::size_t width_, panels_, block_pixels_, blocks_ = 0;
  std::vector<std::uint32_t> pixels_;  // by falling frequency
  std::vector<std::uint32_t> places_;  // of each pixel among them
  Lists forward_, backward_;
};

}  // namespace

std::unique_ptr<Features<float>> sparse_pixels(Dataset<float> data, std::size_t outputs,
                                               Sweeps sweeps) {
  return std::make_unique<SparsePixels>(data, outputs, sweeps);
}

}  // namespace ticopd
