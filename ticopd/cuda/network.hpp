#pragma once

#include <memory>
#include <vector>

#include "ticopd/cuda/cuda.hpp"
#include "ticopd/cuda/field.hpp"
#include "ticopd/cuda/footprint.hpp"
#include "ticopd/cuda/gradients/objective.hpp"
#include "ticopd/cuda/map.cuh"
#include "ticopd/cuda/metrics.hpp"
#include "ticopd/cuda/mirror.hpp"
#include "ticopd/cuda/runtime/queue.hpp"
#include "ticopd/network/cpu.hpp"
#include "ticopd/network/network.hpp"
#include "ticopd/network/row_metrics.hpp"

namespace ticopd::cuda {

// All rows on one device, and the verbs over them. Verbs are recorded. They run when a result is
// read, or when enough rounds are recorded (queue.hpp).
class CudaNetwork final : public AnyNetwork<float> {
 public:
  using Scalar = float;
  using Field = DeviceField;
  using Mirror = DeviceMirror;

  CudaNetwork(const Surroundings<float>& s, const Options& options);
  ~CudaNetwork() override { queue_.finish_quietly(); }  // a copy may be on its way to seen_

  Field field();
  Field start();

  void begin_round(std::uint32_t round) override;

  void gradient(const Field& x, Field& g);       // over the round's mini-batch
  void full_gradient(const Field& x, Field& g);  // over all samples

  template <class F, class... Operands>
  void map(const F& formula, Operands&&... operands);

  PerAgent self_weight() const { return {self_weight_.data()}; }
  PerAgent degree() const { return {degree_.data()}; }

  void evaluate_at(std::span<const float> x, std::span<double> values,
                   ticopd::Field<float>& g) override;
  Global global_at(std::span<const float> x) override;
  std::vector<double> local_values(const ticopd::Field<float>& x) override {
    return host_.local_values(x);
  }
  double accuracy(std::span<const float> x) override;
  // As ticopd::measure_rows, for rows on the device, if the objective is there too.
  bool measures_rows() { return general() != nullptr; }
  RowMetrics measure_rows(MetricLevel level, const Field& x, const Field* dual,
                          const Field* surrogates);
  Ledger& ledger() override;

  // Throws UnavailableError if a run with this footprint and the problem does not fit onto the
  // device. Call it before the run is made.
  void require_room(const Footprint& run);
  std::string_view gradient_name();  // what computes full gradients
  // Loads the problem now. Otherwise it is loaded when first needed, which the run's clock would
  // count.
  void load_problem() { loaded(); }

  // Waits until everything asked for is done. Throws Diverged if a message could not be encoded.
  void finish();

  Queue& queue() { return queue_; }
  const Options& options() const { return options_; }
  CpuNetwork<float>& host() { return host_; }
  Trouble* trouble() { return trouble_.data(); }
  void sending(const float* rows) { sending_ = rows; }  // aside, until the queue joins
  void add(DeviceMirror* mirror) { mirrors_.push_back(mirror); }
  void remove(DeviceMirror* mirror) { std::erase(mirrors_, mirror); }

 private:
  void before_gradient(const Field& x, const Field& g);
  void host_gradient(const Field& x, Field& g, bool full);
  void look_for_trouble(std::uint32_t last) const;  // in rounds up to `last`
  // These rows are about to be written: by a map, which can leave sums for one mirror
  // (watch_writing), or otherwise (written).
  void watch_writing(const float* rows, Watch& watch);
  void written(const float* rows);
  static const float* data_of(const Field& field) { return field.view().data; }
  template <class Operand>
  static const float* data_of(const Operand&) {
    return nullptr;
  }
  template <bool writes>
  static auto view_of(const Field& f) {
    return std::conditional_t<writes, Written, Read>{f.view()};
  }
  template <bool writes>
  static Mixture view_of(const Mixture& m) {
    return m;
  }
  template <bool writes>
  static PerAgent view_of(const PerAgent& p) {
    return p;
  }

  Options options_;
  CpuNetwork<float> host_;  // what the device has no code for
  Queue queue_;
  // The problem on the device. Networks of one problem share it, one after the other, because a
  // search makes hundreds of them.
  struct Loaded {
    Loaded(const Problem& problem, bool tf32);
    bool tf32;
    std::unique_ptr<FullGradient> fused;
    std::unique_ptr<GeneralObjective> general;
  };
  static std::shared_ptr<Loaded> load(const std::shared_ptr<const Problem>& problem, bool tf32);
  // True if a network before this one left the problem on the device. Otherwise releases what is
  // there.
  static bool has_loaded(const std::shared_ptr<const Problem>& problem, bool tf32);
  struct Last;
  static Last& last();
  Loaded* loaded();
  FullGradient* fused();        // null: another kind of problem, or host gradients
  GeneralObjective* general();  // null: the host computes everything
  // Over the samples that metrics look at, if there is a general().
  GeneralObjective& measured_objective();
  std::shared_ptr<Loaded> loaded_;
  Buffer<float> self_weight_, degree_;
  Buffer<Trouble> trouble_;
  std::shared_ptr<Trouble> seen_;  // the host's copy, a little late
  std::vector<DeviceMirror*> mirrors_;
  const float* sending_ = nullptr;
  MetricsRoom& metrics_room();
  // Records f and ||grad f||^2 at a model; the results go to the room's places for this number.
  void record_global(MetricsRoom& room, Rows model, std::size_t number);
  double share_of_test(std::uint32_t right) const;
  std::unique_ptr<MetricsRoom> metrics_room_;
  std::unique_ptr<GeneralObjective> measured_part_;  // with log.samples
  ticopd::Field<float> host_x_, host_g_;
};

template <class F, class... Operands>
void CudaNetwork::map(const F& formula, Operands&&... operands) {
  queue_.join();
  using S = Signature<decltype(&F::operator())>;
  const std::size_t d = s_.objective.dimension();
  const Grid grid{
      .blocks = dim3(static_cast<unsigned>((d + 4 * map_threads - 1) / (4 * map_threads)),
                     static_cast<unsigned>(placement_.rows())),
      .threads = dim3(map_threads),
      .early = true};
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    Watch watch;
    ((S::template writes<i> ? watch_writing(data_of(operands), watch) : void()), ...);
    queue_.launch(map_rows<F, decltype(view_of<S::template writes<i>>(operands))...>, grid, formula,
                  d, watch, view_of<S::template writes<i>>(operands)...);
  }
  (std::index_sequence_for<Operands...>{});
}

static_assert(Network<CudaNetwork>);

}  // namespace ticopd::cuda
