#include "ticopd/data/reading.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "ticopd/data/normalize.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

[[noreturn]] void changed() {
  throw FormatError("problem.data changed while it was read");
}

template <class V>
bool fits(std::span<const V> x, std::size_t features) {
  return x.size() == features;
}

template <class T>
bool fits(const SparseSample<T>& x, std::size_t features) {
  return x.index.empty() || x.index.back() < features;
}

// Keeps the samples that a reader passes on, in their own form.
template <class T>
class Collector {
 public:
  Take<T> take() {
    return [this](const Sample<T>& sample) {
      std::visit([this](const auto& x) { this->add(x); }, sample);
      ++samples_;
    };
  }

  Dataset<T> dataset(std::size_t features, std::vector<double> labels) {
    const bool as_promised = std::visit([&](const auto& x) { return holds(x, features); }, x_);
    if (samples_ != labels.size() || !as_promised) changed();
    return Dataset<T>(samples_, features, std::move(x_), std::move(labels));
  }

 private:
  template <class V>
  V& held() {
    if (!std::holds_alternative<V>(x_)) x_.template emplace<V>();
    return std::get<V>(x_);
  }

  template <class V>
  void add(std::span<const V> x) {
    auto& all = held<std::vector<V>>();
    all.insert(all.end(), x.begin(), x.end());
  }

  void add(const SparseSample<T>& x) {
    auto& all = held<SparseRows<T>>();
    if (all.begin.empty()) all.begin.push_back(0);
    all.index.insert(all.index.end(), x.index.begin(), x.index.end());
    all.value.insert(all.value.end(), x.value.begin(), x.value.end());
    all.begin.push_back(all.index.size());
    if (!x.index.empty()) reach_ = std::max<std::size_t>(reach_, x.index.back() + std::size_t{1});
  }

  template <class V>
  bool holds(const std::vector<V>& x, std::size_t features) const {
    return x.size() == samples_ * features;
  }
  bool holds(const SparseRows<T>&, std::size_t features) const { return reach_ <= features; }

  typename Dataset<T>::Features x_;
  std::size_t samples_ = 0;
  std::size_t reach_ = 0;  // features that the sparse samples ask for
};

std::vector<double> picked(const std::vector<double>& labels,
                           std::span<const std::uint32_t> samples) {
  std::vector<double> out;
  for (const std::uint32_t s : samples) out.push_back(labels.at(s));
  return out;
}

// Reads the chosen samples in the order of the file, each once, and puts them into the order given.
template <class T>
Dataset<T> read_chosen(const Reading<T>& reading, const Contents& all,
                       const std::vector<std::uint32_t>& chosen) {
  std::vector<std::uint32_t> ascending = chosen;
  std::sort(ascending.begin(), ascending.end());
  ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());
  const std::vector<double> labels = picked(all.labels, ascending);
  Collector<T> collector;
  reading(Wanted::only(ascending), collector.take());
  Dataset<T> data = collector.dataset(all.features, labels);
  if (ascending == chosen) return data;
  std::vector<std::uint32_t> place;
  for (const std::uint32_t s : chosen)
    place.push_back(static_cast<std::uint32_t>(
        std::lower_bound(ascending.begin(), ascending.end(), s) - ascending.begin()));
  return data.select(place);
}

// All training samples as dense rows, one after the other.
template <class T>
EachSample<T> dense_rows_of(const Reading<T>& reading, const Contents& all) {
  return [&](const std::function<void(std::span<const T>)>& use) {
    std::vector<T> row(all.features);
    reading(Wanted::first(all.labels.size()), [&](const Sample<T>& sample) {
      if (!std::visit([&](const auto& x) { return fits(x, row.size()); }, sample)) changed();
      read(sample, std::span(row));
      use(row);
    });
  };
}

}  // namespace

bool Wanted::operator()(std::size_t sample) const {
  return sample < first_ || std::binary_search(list_.begin(), list_.end(), sample);
}

template <class T>
TrainTest<T> gather(const SampleSource<T>& source, const GatherOptions& options) {
  const std::size_t limit =
      options.max_samples > 0 ? options.max_samples : std::numeric_limits<std::size_t>::max();
  Collector<T> train, test;
  Contents all = source.train(options.choose ? Wanted::none() : Wanted::first(limit), train.take());
  Contents tested;
  if (source.test) tested = source.test(Wanted::all(), test.take());
  TrainTest<T> data;
  data.classes = source.reconcile(all, tested);
  if (limit < all.labels.size()) all.labels.resize(limit);
  data.test = test.dataset(tested.features, std::move(tested.labels));
  if (!options.choose) {
    data.train = train.dataset(all.features, std::move(all.labels));
    if (options.normalize) normalize(data);
    return data;
  }
  data.train = read_chosen(source.train, all, options.choose(all.labels, data.classes));
  if (options.normalize) normalize(data, all.labels.size(), dense_rows_of<T>(source.train, all));
  return data;
}

template <class T>
Dataset<T> whole(const Reading<T>& reading) {
  Collector<T> collector;
  Contents all = reading(Wanted::all(), collector.take());
  return collector.dataset(all.features, std::move(all.labels));
}

template TrainTest<float> gather(const SampleSource<float>&, const GatherOptions&);
template TrainTest<double> gather(const SampleSource<double>&, const GatherOptions&);
template Dataset<float> whole(const Reading<float>&);
template Dataset<double> whole(const Reading<double>&);

}  // namespace ticopd
