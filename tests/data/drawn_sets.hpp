#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/temporary.hpp"
#include "ticopd/data/npy.hpp"
#include "ticopd/data/source.hpp"

namespace ticopd {

// Writes small data sets in every form that problem.data accepts. Forms of one kind hold the same
// numbers.
class DrawnSets : public TemporaryFolder {
 protected:
  static constexpr std::size_t classes_ = 3;

  DataOptions options(const std::string& data) const {
    DataOptions o;
    o.data = data;
    o.base = folder_;
    o.samples = 60;
    o.features = 5;
    o.classes = 4;
    return o;
  }

  static std::uint8_t pixel(std::size_t k) {
    return static_cast<std::uint8_t>((k * k + 7 * k) % 251 % 5 * 60);  // two of five are zero
  }
  // Labels that are not sorted, with classes of different sizes.
  static std::size_t label(std::size_t s) { return (s * s + s / 3) % classes_; }

  void draw_idx(const std::string& place, std::size_t samples, std::size_t side,
                bool zipped) const {
    const std::string end = zipped ? ".gz" : "";
    for (const std::string& part : {std::string("train"), std::string("t10k")}) {
      const std::size_t count = part == "train" ? samples : 4;
      std::string images = idx_header({count, side, side}), labels = idx_header({count});
      for (std::size_t k = 0; k < count * side * side; ++k) images += static_cast<char>(pixel(k));
      for (std::size_t s = 0; s < count; ++s) labels += static_cast<char>(label(s));
      put(place + "/" + part + "-images-idx3-ubyte" + end, images, zipped);
      put(place + "/" + part + "-labels-idx1-ubyte" + end, labels, zipped);
    }
  }

  // Writes a csv file, or a libsvm file without the zeros.
  void draw_text(const std::string& name, std::size_t samples, std::size_t features, bool sparse,
                 bool zipped) const {
    std::string text;
    for (std::size_t s = 0; s < samples; ++s) {
      text += std::to_string(10 * label(s));
      for (std::size_t k = 0; k < features; ++k) {
        const int value = pixel(s * features + k);
        if (sparse && value > 0) text += " " + std::to_string(k + 1) + ":" + std::to_string(value);
        if (!sparse) text += "," + std::to_string(value) + ".5";
      }
      text += "\n";
    }
    put(name, text, zipped);
  }

  template <class V>
  void draw_npy(const std::string& place, std::size_t samples, std::size_t features) const {
    std::filesystem::create_directories(folder_ / place);
    for (const std::string& end : {std::string(), std::string("_test")}) {
      const std::size_t count = end.empty() ? samples : 4;
      std::vector<V> x(count * features);
      std::vector<double> y(count);
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<V>(pixel(k));
      for (std::size_t s = 0; s < count; ++s) y[s] = static_cast<double>(label(s));
      const std::filesystem::path at = folder_ / place;
      write_npy<V>(at / ("X" + end + ".npy"), std::vector<std::size_t>{count, features}, x);
      write_npy<double>(at / ("y" + end + ".npy"), std::vector<std::size_t>{count}, y);
    }
  }

 private:
  static std::string idx_header(const std::vector<std::size_t>& shape) {
    std::string bytes{'\0', '\0', '\x08', static_cast<char>(shape.size())};
    for (const std::size_t extent : shape)
      for (int shift = 24; shift >= 0; shift -= 8)
        bytes += static_cast<char>(extent >> shift & 0xff);
    return bytes;
  }

  void put(const std::string& name, const std::string& bytes, bool zipped) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    if (zipped)
      write_gz(name, bytes);
    else
      write(name, bytes);
  }
};

}  // namespace ticopd
