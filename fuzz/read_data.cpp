#include "fuzz/read_data.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fuzz/place.hpp"
#include "fuzz/want.hpp"
#include "ticopd/data/csv.hpp"
#include "ticopd/data/idx.hpp"
#include "ticopd/data/libsvm.hpp"
#include "ticopd/data/npy.hpp"
#include "ticopd/data/shape.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "ticopd/graph/graph.hpp"

namespace ticopd {
namespace {

// Larger graphs are allowed, and would take the time of thousands of inputs.
constexpr int most_agents = 16;

// An agent with such a number would make a graph that takes the time of thousands of inputs.
bool has_long_number(std::string_view text) {
  int digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 2) return true;
  }
  return false;
}

template <class T>
void append_line(double label, std::span<const T> x, std::string& text) {
  text += fmt::format("{}", label);
  for (const T v : x) text += fmt::format(",{}", v);
  text += '\n';
}

template <class T>
void append_line(double label, const SparseRows<T>& x, std::size_t row, std::string& text) {
  text += fmt::format("{}", label);
  for (std::size_t e = x.begin[row]; e < x.begin[row + 1]; ++e)
    text += fmt::format(" {}:{}", x.index[e] + std::size_t{1}, x.value[e]);
  text += '\n';
}

template <class T>
void want_same(const Dataset<T>& a, const Dataset<T>& b) {
  want(a.samples() == b.samples() && a.features() == b.features() && a.labels() == b.labels());
}

template <class T>
void want_csv(const std::filesystem::path& file, int label_column) {
  const Dataset<T> data = read_csv<T>(file, label_column);
  const auto& x = std::get<std::vector<T>>(data.raw());
  want(data.samples() > 0 && data.labels().size() == data.samples());
  want(x.size() == data.samples() * data.features());
  std::string text;
  for (std::size_t s = 0; s < data.samples(); ++s)
    append_line(data.labels()[s], std::span(x).subspan(s * data.features(), data.features()), text);
  const Dataset<T> again =
      read_again([&] { return read_csv<T>(place().put("again.csv", text), 0); });
  want_same(data, again);
  want(std::get<std::vector<T>>(again.raw()) == x);
}

template <class T>
void want_libsvm(const std::filesystem::path& file) {
  const Dataset<T> data = read_libsvm<T>(file);
  const auto& x = std::get<SparseRows<T>>(data.raw());
  want(data.samples() > 0 && data.features() > 0 && data.labels().size() == data.samples());
  want(x.begin.size() == data.samples() + 1 && x.begin.back() == x.index.size() &&
       x.index.size() == x.value.size());
  std::string text;
  for (std::size_t s = 0; s < data.samples(); ++s) append_line(data.labels()[s], x, s, text);
  const Dataset<T> again =
      read_again([&] { return read_libsvm<T>(place().put("again.svm", text)); });
  want_same(data, again);
  const auto& y = std::get<SparseRows<T>>(again.raw());
  want(y.begin == x.begin && y.index == x.index && y.value == x.value);
}

template <class V>
void want_npy(const std::filesystem::path& file) {
  const NpyArray<V> array = read_npy<V>(file);
  want(items(array.shape) == array.data.size());
  std::string bytes = npy_head<V>(array.shape);
  bytes.append(reinterpret_cast<const char*>(array.data.data()), array.data.size() * sizeof(V));
  const NpyArray<V> again =
      read_again([&] { return read_npy<V>(place().put("again.npy", bytes)); });
  want(again.shape == array.shape && again.data == array.data);
}

}  // namespace

void read_config(std::string_view content) {
  const Config config = Config::parse(content, place().folder());
  // Written as `ticopd tune` writes it. NaN is no value of a config, but compares as text all the
  // same.
  const Config again =
      read_again([&] { return Config::parse(json_to_toml(config.tree()), place().folder()); });
  want(again.tree().dump() == config.tree().dump());
  // A path could name any file of this machine.
  if (config.get<int>("graph.agents") > most_agents || config.has("graph.path")) return;
  check(config);
}

void read_edges(std::string_view content) {
  // Half of the inputs, by their length, leave the number of agents to the file.
  int agents = content.size() % 2 == 0 ? 6 : 0;
  if (agents == 0 && has_long_number(content)) return;
  const Graph graph = edge_list(place().put("edges.txt", content), agents);
  want(graph.agents() == agents || agents == 0);
  agents = graph.agents();
  std::string text;
  for (int i = 0; i < agents; ++i)
    for (const int j : graph.neighbours(i)) {
      want(j >= 0 && j < agents && j != i);
      if (i < j) text += fmt::format("{} {}\n", i, j);
    }
  const auto file = place().put("again.txt", text);
  const Graph again = read_again([&] { return edge_list(file, agents); });
  for (int i = 0; i < agents; ++i) want(again.neighbours(i) == graph.neighbours(i));
}

void read_csv_file(std::string_view content) {
  const auto file = place().put("data.csv", content);
  accepts([&] { want_csv<double>(file, 0); });
  accepts([&] { want_csv<float>(file, -1); });
}

void read_libsvm_file(std::string_view content) {
  const auto file = place().put("data.svm", content);
  accepts([&] { want_libsvm<double>(file); });
  accepts([&] { want_libsvm<float>(file); });
}

void read_npy_file(std::string_view content) {
  const auto file = place().put("data.npy", content);
  accepts([&] { want_npy<double>(file); });
  accepts([&] { want_npy<float>(file); });
  accepts([&] { want_npy<std::uint8_t>(file); });
}

void read_idx_file(std::string_view content) {
  const Idx idx = read_idx(place().put("data-idx", content));
  want(items(idx.shape) == idx.data.size());
  std::string bytes{0, 0, 8, static_cast<char>(idx.shape.size())};
  for (const std::size_t extent : idx.shape)
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(extent >> shift);
  bytes.append(idx.data.begin(), idx.data.end());
  const Idx again = read_again([&] { return read_idx(place().put("again-idx", bytes)); });
  want(again.shape == idx.shape && again.data == idx.data);
}

}  // namespace ticopd
