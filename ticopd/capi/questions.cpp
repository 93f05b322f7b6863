#include "ticopd/capi/questions.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "ticopd/capi/call.hpp"
#include "ticopd/error.hpp"
#include "ticopd/system/json.hpp"

namespace ticopd::capi {
namespace {

using nlohmann::json;

std::vector<Segment> read_layout(const char* text, std::size_t dimension) {
  std::string why;
  const json parts = parse_json(text, &why);
  const auto refuse = [](const std::string& what) {
    throw ConfigError(
        fmt::format("layout: {}; allowed is a list such as [[\"W1\", [100, 784]]]", what));
  };
  if (!parts.is_array()) refuse(parts.is_discarded() ? "is no JSON (" + why + ")" : "is no list");
  std::vector<Segment> all;
  std::size_t numbers = 0;
  for (const json& part : parts) {
    if (!part.is_array() || part.size() != 2 || !part[0].is_string() || !part[1].is_array())
      refuse(part.dump() + " is no part");
    Segment segment{part[0], {}};
    std::size_t size = 1;
    for (const json& length : part[1]) {
      if (!length.is_number_unsigned() || length.get<std::size_t>() > dimension)
        refuse(part.dump() + " has a wrong shape");
      segment.shape.push_back(length);
      size *= length.get<std::size_t>();
      if (size > dimension)
        refuse(fmt::format("{} has more than {} numbers", part.dump(), dimension));
    }
    numbers += size;
    all.push_back(std::move(segment));
  }
  if (numbers != dimension)
    refuse(fmt::format("its parts have {} numbers, and a model has {}", numbers, dimension));
  return all;
}

template <class T>
void refuse_start(const std::vector<std::byte>& bytes) {
  for (std::size_t k = 0; k < bytes.size() / sizeof(T); ++k) {
    T value;
    std::memcpy(&value, bytes.data() + k * sizeof(T), sizeof(T));
    if (!std::isfinite(value))
      throw ConfigError(
          fmt::format("start: is {} at coordinate {}; allowed are finite numbers", value, k));
  }
}

// Evaluations become questions about all rows at once if the rows lie evenly in memory, as those of
// a field do.
template <class T>
class Questions final : public Objective<T> {
 public:
  Questions(Problem problem, Conversation& conversation)
      : problem_(std::move(problem)), conversation_(conversation) {}

  int agents() const override { return problem_.agents; }
  std::size_t dimension() const override { return problem_.dimension; }

  double value(int agent, std::span<const T> x) const override {
    return evaluate(agent, 0, {}, x, {});
  }
  void gradient(int agent, std::span<const T> x, std::span<T> g) const override {
    Batch all;
    all.value = false;
    evaluate(agent, 0, all, x, g);
  }
  void start(std::uint64_t seed, std::span<T> x) const override {
    if (problem_.start.empty()) return Objective<T>::start(seed, x);
    std::memcpy(x.data(), problem_.start.data(), x.size_bytes());
  }

  double evaluate(int agent, std::size_t, const Batch& batch, std::span<const T> x,
                  std::span<T> g) const override {
    const RowRequest<T> request{agent, x, g, batch};
    double value = 0;
    ask(std::span(&request, 1), std::span(&value, 1));
    return value;
  }

  bool evaluate_rows(std::span<const RowRequest<T>> requests,
                     std::span<double> values) const override {
    evaluate_rows_with(requests, values, {});
    return true;
  }
  bool is_asked_elsewhere() const override { return true; }
  void evaluate_rows_with(std::span<const RowRequest<T>> requests, std::span<double> values,
                          const std::function<void()>& meanwhile) const override {
    if (requests.empty()) {
      if (meanwhile) meanwhile();
    } else if (is_even(requests)) {
      ask(requests, values, meanwhile);
    } else {
      for (std::size_t i = 0; i < requests.size(); ++i)
        ask(requests.subspan(i, 1), values.subspan(i, 1),
            i == 0 ? meanwhile : std::function<void()>());
    }
  }

  std::size_t samples(int agent) const override {
    return problem_.samples.empty() ? 0 : problem_.samples[static_cast<std::size_t>(agent)];
  }
  std::size_t test_samples() const override { return problem_.test_samples; }
  std::size_t test_blocks() const override { return problem_.test_samples > 0 ? 1 : 0; }
  std::size_t correct(std::size_t, std::span<const T> x) const override {
    double share = std::numeric_limits<double>::quiet_NaN();
    tc_question q{};
    q.kind = TC_ACCURACY;
    q.first = -1;
    q.rows = 1;
    q.measuring = 1;
    q.x = x.data();
    q.values = &share;
    conversation_.ask(q);
    const double all = static_cast<double>(problem_.test_samples);
    return share > 0 ? static_cast<std::size_t>(std::llround(std::min(share, 1.0) * all)) : 0;
  }

  SampleRecord sample_record(int agent) const override {
    if (problem_.fingerprints.empty()) return {};
    return {problem_.fingerprints[static_cast<std::size_t>(agent)], {}};
  }
  std::vector<Segment> segments() const override {
    return problem_.layout.empty() ? Objective<T>::segments() : problem_.layout;
  }

 private:
  static std::ptrdiff_t stride(const T* a, const T* b) { return b - a; }

  // Agents in their order, rows of one field (or one row for all), gradients alike.
  static bool is_even(std::span<const RowRequest<T>> r) {
    if (r.size() < 2) return true;
    const std::ptrdiff_t x = stride(r[0].x.data(), r[1].x.data());
    const std::ptrdiff_t g = r[0].g.empty() ? 0 : stride(r[0].g.data(), r[1].g.data());
    if (x < 0 || g < 0) return false;
    for (std::size_t i = 1; i < r.size(); ++i)
      if (r[i].agent != r[0].agent + static_cast<int>(i) ||
          stride(r[i - 1].x.data(), r[i].x.data()) != x || r[i].g.empty() != r[0].g.empty() ||
          (!r[0].g.empty() && stride(r[i - 1].g.data(), r[i].g.data()) != g) ||
          r[i].batch.full != r[0].batch.full || r[i].batch.value != r[0].batch.value)
        return false;
    return true;
  }

  void ask(std::span<const RowRequest<T>> r, std::span<double> values,
           const std::function<void()>& meanwhile = {}) const {
    const std::size_t rows = r.size();
    const RowRequest<T>& one = r.front();
    const std::ptrdiff_t d = static_cast<std::ptrdiff_t>(problem_.dimension);
    tc_question q{};
    q.kind = TC_GRADIENTS;
    q.first = one.agent;
    q.measuring = one.batch.value ? 1 : 0;  // a round wants gradients alone
    q.rows = static_cast<std::int32_t>(rows);
    q.x = one.x.data();
    q.x_stride = static_cast<std::size_t>(rows > 1 ? stride(one.x.data(), r[1].x.data()) : d);
    if (!one.g.empty()) {
      q.g = one.g.data();
      q.g_stride = static_cast<std::size_t>(rows > 1 ? stride(one.g.data(), r[1].g.data()) : d);
    }
    if (one.batch.value && problem_.has_values) q.values = values.data();
    std::vector<std::uint32_t> batch;
    std::vector<std::uint64_t> ends;
    if (!one.batch.full) {
      for (const RowRequest<T>& row : r) {
        batch.insert(batch.end(), row.batch.samples.begin(), row.batch.samples.end());
        ends.push_back(batch.size());
      }
      q.batch = batch.data();
      q.batch_ends = ends.data();
    }
    if (q.values == nullptr)
      std::ranges::fill(values, one.batch.value ? std::numeric_limits<double>::quiet_NaN() : 0.0);
    conversation_.ask(q, meanwhile);
  }

  Problem problem_;
  Conversation& conversation_;
};

class AskedObjective final : public ExternalObjective {
 public:
  AskedObjective(const Problem& problem, Conversation& conversation)
      : problem_(problem), conversation_(conversation) {}
  std::shared_ptr<const Objective<float>> in_float() const override { return make<float>(); }
  std::shared_ptr<const Objective<double>> in_double() const override { return make<double>(); }

 private:
  template <class T>
  std::shared_ptr<const Objective<T>> make() const {
    return std::make_shared<Questions<T>>(problem_, conversation_);
  }
  Problem problem_;
  Conversation& conversation_;
};

}  // namespace

Problem Problem::read(const tc_problem& given, std::size_t precision) {
  if (given.struct_size < sizeof given)
    throw UsageError("tc_problem: struct_size is not sizeof(tc_problem)");
  constexpr std::uint64_t most = std::uint64_t{1} << 32;  // messages number them with 32 bits
  if (given.dimension == 0 || given.dimension > most)
    throw ConfigError(
        fmt::format("the objective's dimension is {}: allowed is 1 to {}", given.dimension, most));
  if (given.agents < 1)
    throw ConfigError(
        fmt::format("the objective has {} agents: allowed is 1 and more", given.agents));
  Problem p{.dimension = given.dimension,
            .agents = given.agents,
            .has_values = given.has_values != 0,
            .test_samples = given.test_samples};
  const auto agents = static_cast<std::size_t>(given.agents);
  if (given.samples != nullptr) p.samples.assign(given.samples, given.samples + agents);
  if (given.start != nullptr) {
    const auto* bytes = static_cast<const std::byte*>(given.start);
    p.start.assign(bytes, bytes + given.dimension * precision);
    precision == sizeof(float) ? refuse_start<float>(p.start) : refuse_start<double>(p.start);
  }
  if (given.fingerprints != nullptr)
    for (std::size_t i = 0; i < agents; ++i)
      p.fingerprints.emplace_back(given.fingerprints[i] != nullptr ? given.fingerprints[i] : "");
  if (given.layout != nullptr) p.layout = read_layout(given.layout, p.dimension);
  if (given.metric_count > 0) require(given.metrics, "metrics");
  for (std::size_t i = 0; i < given.metric_count; ++i) {
    require(given.metrics[i], "metrics");
    p.metrics.emplace_back(given.metrics[i]);
  }
  return p;
}

std::shared_ptr<const ExternalObjective> ask_objective(const Problem& problem,
                                                       Conversation& conversation) {
  return std::make_shared<AskedObjective>(problem, conversation);
}

SessionMetrics ask_metrics(const Problem& problem, Conversation& conversation) {
  return {problem.metrics, [&conversation](const void* x, std::size_t rows, std::size_t columns,
                                           int first, std::span<double> values) {
            tc_question q{};
            q.kind = TC_METRICS;
            q.measuring = 1;
            q.first = first;
            q.rows = static_cast<std::int32_t>(rows);
            q.x = x;
            q.x_stride = columns;
            q.values = values.data();
            conversation.ask(q);
          }};
}

}  // namespace ticopd::capi
