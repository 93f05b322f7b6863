#include <algorithm>
#include <mutex>
#include <span>

#include "ticopd/cuda/device.hpp"
#include "ticopd/cuda/network.hpp"
#include "ticopd/error.hpp"

namespace ticopd::cuda {
namespace {

// The host checks every so many rounds if a message could not be encoded. It sees the state at the
// check before.
constexpr std::uint32_t rounds_between_looks = 64;
// It ignores the last rounds before that state, which may or may not have been launched by then. So
// what is found, and when, does not depend on speed.
constexpr std::uint32_t rounds_unsure = 32;

// Pinned, so that the device can copy to it while the host goes on.
std::shared_ptr<Trouble> pinned_trouble() {
  const std::lock_guard lock(device_mutex());
  void* memory = nullptr;
  check(cudaMallocHost(&memory, sizeof(Trouble)), "allocate pinned memory");
  return {new (memory) Trouble{}, [](Trouble* t) {
            const std::lock_guard freeing(device_mutex());
            cudaFreeHost(t);
          }};
}

}  // namespace

namespace {

Options with_problem(Options options, const Objective<float>& objective) {
  if (!options.problem) options.problem = objective.sample_problem();
  return options;
}

}  // namespace

CudaNetwork::CudaNetwork(const Surroundings<float>& s, const Options& options)
    : AnyNetwork<float>(s),
      options_(with_problem(options, s.objective)),
      host_(s),
      self_weight_(self_weights()),
      degree_(degrees()),
      trouble_(1),
      seen_(pinned_trouble()) {}

CudaNetwork::Loaded::Loaded(const Problem& problem, bool in_tf32)
    : tf32(in_tf32),
      fused(make_fused_gradient(problem)),
      general(make_general_objective(problem, tf32)) {}

// The last problem stays on the device until another one comes. At the end of the program the
// driver frees it, because cuBLAS may be gone before statics are destroyed.
struct CudaNetwork::Last {
  std::mutex mutex;
  std::weak_ptr<const Problem> problem;
  std::shared_ptr<Loaded> loaded;

  // True if this problem is loaded and no network uses it. Otherwise releases what is loaded.
  bool is(const std::shared_ptr<const Problem>& asked, bool tf32) {
    const bool same = loaded && asked && problem.lock() == asked && loaded->tf32 == tf32 &&
                      loaded.use_count() == 1;
    if (!same) loaded.reset();
    return same;
  }
};

CudaNetwork::Last& CudaNetwork::last() {
  static auto& one = *new Last;
  return one;
}

bool CudaNetwork::has_loaded(const std::shared_ptr<const Problem>& problem, bool tf32) {
  Last& l = last();
  const std::lock_guard lock(l.mutex);
  return l.is(problem, tf32);
}

std::shared_ptr<CudaNetwork::Loaded> CudaNetwork::load(
    const std::shared_ptr<const Problem>& problem, bool tf32) {
  Last& l = last();
  const std::lock_guard lock(l.mutex);
  if (!l.is(problem, tf32)) {
    l.loaded = std::make_shared<Loaded>(*problem, tf32);
    l.problem = problem;
  }
  return l.loaded;
}

void CudaNetwork::require_room(const Footprint& run) {
  require_memory(s_, options_, run, loaded_ || has_loaded(options_.problem, options_.tf32));
}

CudaNetwork::Loaded* CudaNetwork::loaded() {
  if (!loaded_ && options_.problem) loaded_ = load(options_.problem, options_.tf32);
  return loaded_.get();
}

GeneralObjective* CudaNetwork::general() {
  return loaded() ? loaded()->general.get() : nullptr;
}

FullGradient* CudaNetwork::fused() {
  return loaded() && !options_.host_gradient ? loaded()->fused.get() : nullptr;
}

std::string_view CudaNetwork::gradient_name() {
  if (fused()) return fused()->name();
  return general() && !options_.host_gradient ? general()->name() : "host";
}

DeviceField CudaNetwork::field() {
  Field f(placement_.rows(), s_.objective.dimension(), &queue_);
  count_state(f.bytes());
  return f;
}

DeviceField CudaNetwork::start() {
  std::vector<float> x0(s_.objective.dimension());
  s_.objective.start(s_.seed_of_problem(), x0);
  Field x = field();
  x.fill_rows(x0);
  return x;
}

void CudaNetwork::begin_round(std::uint32_t round) {
  AnyNetwork<float>::begin_round(round);
  host_.begin_round(round);
  queue_.begin_round(round);
  if (round % rounds_between_looks != 0) return;
  queue_.wait_for_copy();
  if (round > rounds_between_looks + rounds_unsure)
    look_for_trouble(round - rounds_between_looks - rounds_unsure);
  queue_.copy_to_host(seen_.get(), trouble_.data(), sizeof(Trouble));
}

void CudaNetwork::finish() {
  queue_.finish();
  copy(seen_.get(), trouble_.data(), sizeof(Trouble));
  look_for_trouble(round());
}

void CudaNetwork::look_for_trouble(std::uint32_t last) const {
  const Trouble& t = *seen_;
  if (t.any == 0 || t.round > last) return;
  throw Diverged("diverged: the message of agent " + std::to_string(t.agent) + ", round " +
                 std::to_string(t.round) + ", channel " + std::to_string(t.channel) +
                 " is not finite, or outside the codec's range");
}

void CudaNetwork::watch_writing(const float* rows, Watch& watch) {
  for (DeviceMirror* mirror : mirrors_) {
    if (mirror->watched() != rows || rows == nullptr) continue;
    if (watch.squares)
      mirror->forget_squares();  // only one mirror gets sums
    else
      watch = mirror->watch();
  }
}

void CudaNetwork::written(const float* rows) {
  if (rows == sending_) queue_.join();  // the codec reads these rows until then
  for (DeviceMirror* mirror : mirrors_)
    if (mirror->watched() == rows) mirror->forget_squares();
}

// Codecs run beside gradients. So a gradient at rows that a codec writes must wait for the codec.
void CudaNetwork::before_gradient(const Field& x, const Field& g) {
  for (const DeviceMirror* mirror : mirrors_)
    if (mirror->changes(x.view().data)) queue_.join();
  written(g.view().data);
}

void CudaNetwork::gradient(const Field& x, Field& g) {
  if (s_.batch == 0) return full_gradient(x, g);
  before_gradient(x, g);
  if (general() && !options_.host_gradient)
    general()->batch_gradient(queue_, x.view(), g.view(), s_.seed, s_.batch);
  else
    host_gradient(x, g, false);
}

void CudaNetwork::full_gradient(const Field& x, Field& g) {
  before_gradient(x, g);
  if (fused())
    fused()->gradient(queue_, x.view(), g.view());
  else if (general() && !options_.host_gradient)
    general()->gradient(queue_, x.view(), g.view());
  else
    host_gradient(x, g, true);
}

void CudaNetwork::host_gradient(const Field& x, Field& g, bool full) {
  queue_.host([&] {
    x.download(host_x_);
    if (host_g_.rows() != x.rows()) host_g_ = ticopd::Field<float>(x.rows(), x.cols());
    if (full)
      host_.full_gradient(host_x_, host_g_);
    else
      host_.gradient(host_x_, host_g_);
    g.upload(host_g_);
  });
}

Ledger& CudaNetwork::ledger() {
  Ledger& all = AnyNetwork<float>::ledger();
  queue_.finish();
  for (DeviceMirror* mirror : mirrors_) mirror->give_counts(all);
  // Messages that went through the host were counted there.
  for (std::size_t row = 0; row < all.agents.size(); ++row) {
    Ledger::Agent& from = host_.ledger().agents[row];
    Ledger::Agent& to = all.agents[row];
    to.messages += std::exchange(from.messages, 0);
    to.payload_bytes += std::exchange(from.payload_bytes, 0);
    to.paper_bits += std::exchange(from.paper_bits, 0.0);
    to.saturated += std::exchange(from.saturated, 0);
    for (std::size_t link = 0; link < to.link_bytes.size(); ++link) {
      to.link_messages[link] += std::exchange(from.link_messages[link], 0);
      to.link_bytes[link] += std::exchange(from.link_bytes[link], 0);
    }
  }
  return all;
}

std::unique_ptr<AnyNetwork<float>> make_network(const Surroundings<float>& surroundings,
                                                const Options& options) {
  require_device();
  if (surroundings.transport.size() > 1)
    throw ConfigError("--device cuda: all agents live on one device; allowed is one process");
  std::size_t units = 0;
  if (options.problem)
    for (const std::size_t width : std::span(options.problem->widths).subspan(1))
      units = std::max(units, width);
  require_grids(static_cast<std::size_t>(surroundings.graph.agents()),
                surroundings.links.varies() ? 2 * surroundings.graph.edges() : 0, units);
  return std::make_unique<CudaNetwork>(surroundings, options);
}

}  // namespace ticopd::cuda
