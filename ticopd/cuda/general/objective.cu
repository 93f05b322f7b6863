// Any problem on the device. cuBLASLt computes the two products with the features, in digits or
// floats; our own kernels (pass.hpp) do everything between them.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "ticopd/cuda/general/blas.hpp"
#include "ticopd/cuda/general/pass.hpp"
#include "ticopd/cuda/general/plan.hpp"
#include "ticopd/cuda/gradients/objective.hpp"

namespace ticopd::cuda {
namespace general {
namespace {

// Samples of a group's agents, or of their batches, and the products of their shape.
struct Stage {
  DeviceSamples samples;
  Buffer<double> scales;
  std::unique_ptr<Product> forward, back;
};

// Agents whose samples are padded to one size.
struct Group {
  std::vector<std::size_t> agents;
  std::vector<std::size_t> sizes;
  Buffer<std::uint32_t> agent_list;
  Stage all;
};

// Gradients, values and the test set of any problem.
class General final : public GeneralObjective {
 public:
  General(const Problem& problem, bool tf32);

  std::string_view name() const override { return plan_.model.in_base256 ? "digits" : "general"; }
  void gradient(Queue& queue, Rows x, Rows g) override { evaluate(queue, x, nullptr, g); }
  void batch_gradient(Queue& queue, Rows x, Rows g, std::uint64_t seed, std::size_t batch) override;
  void evaluate(Queue& queue, Rows x, double* values, Rows g) override {
    for (const Group& group : groups_) sweep(queue, group, group.all, x, values, g);
  }
  void correct(Queue& queue, Rows x, std::size_t rows, std::uint32_t* right) override;

 private:
  // Null if the first layer needs no separate product.
  std::unique_ptr<Product> forward_product(const SampleLayout& layout, const void* samples,
                                           bool shared);
  std::unique_ptr<Product> back_product(const DeviceSamples& samples);
  Buffer<double> scales_of(const Group& group, std::size_t most) const;
  std::vector<Stage> make_batches(std::size_t batch);
  void sweep(Queue& queue, const Group& group, const Stage& stage, Rows x, double* values, Rows g);
  void record_forward(Queue& queue, const Pass& pass, const Product* product);
  void record_back(Queue& queue, const Pass& pass, const Stage& stage);
  void test_models(Queue& queue, Rows x, std::size_t first, std::size_t rows, std::uint32_t* right);

  GradientPlan plan_;
  Problem::Loss loss_;
  Activation phi_;
  double l2_;
  ProductShape::Kind kind_;
  std::vector<double> weights_;  // of the agents
  Blas blas_;
  Workspace space_;
  std::vector<Group> groups_;
  std::map<std::size_t, std::vector<Stage>> batches_;  // by size of the batch
  DeviceSamples test_;
  std::size_t test_count_;
  std::unique_ptr<Product> test_many_, test_one_;  // for several models, and for one
};

General::General(const Problem& problem, bool tf32)
    : plan_(problem),
      loss_(problem.loss),
      phi_(problem.phi),
      l2_(problem.l2),
      kind_(plan_.model.in_base256 ? ProductShape::Kind::int8
            : tf32                 ? ProductShape::Kind::tf32
                                   : ProductShape::Kind::fp32),
      space_(plan_.room),
      test_count_(problem.test.samples()) {
  for (std::size_t agent = 0; agent < problem.agents(); ++agent)
    weights_.push_back(problem.weight(agent));
  for (const AgentGroup& plan : plan_.groups) {
    Group group;
    group.agents = plan.agents;
    std::vector<const Dataset<float>*> sets;
    std::vector<std::uint32_t> list;
    for (const std::size_t agent : plan.agents) {
      sets.push_back(&problem.shards[agent]);
      list.push_back(u32(agent));
      group.sizes.push_back(problem.shards[agent].samples());
    }
    group.agent_list = Buffer<std::uint32_t>(list);
    group.all.samples = DeviceSamples(plan_.model, plan.layout, sets, plan.used, true);
    group.all.scales = scales_of(group, plan.layout.samples);
    group.all.forward = forward_product(plan.layout, group.all.samples.rows(), false);
    group.all.back = back_product(group.all.samples);
    groups_.push_back(std::move(group));
  }
  if (plan_.test.tiles == 0) return;
  test_ = DeviceSamples(plan_.model, plan_.test_samples(), {&problem.test}, plan_.test_used, false);
  test_many_ = forward_product(plan_.test.layout, test_.rows(), true);
  SampleLayout one = plan_.test.layout;
  one.slots = 1;
  test_one_ = forward_product(one, test_.rows(), true);
}

// Sums over features, for every unit and sample. `shared`: all slots have the same samples, so
// their units are columns of one product.
std::unique_ptr<Product> General::forward_product(const SampleLayout& layout, const void* samples,
                                                  bool shared) {
  if (plan_.model.joins_first_layer()) return nullptr;
  const std::size_t columns = plan_.model.units() * (plan_.model.in_base256 ? 3 : 1);
  ProductShape shape;
  shape.kind = kind_;
  shape.m = layout.samples;
  shape.n = shared ? layout.slots * columns : columns;
  shape.k = layout.features;
  shape.lda = shape.ldb = layout.features;
  shape.ldc = layout.samples;
  shape.batch = shared ? 1 : layout.slots;
  shape.stride_a = layout.samples * layout.features;
  shape.stride_b = columns * layout.features;
  shape.stride_c = columns * layout.samples;
  return std::make_unique<Product>(blas_, shape, samples, space_.weights.data(),
                                   space_.sums.data());
}

// Sums over samples: per piece for digits, per chunk for floats.
std::unique_ptr<Product> General::back_product(const DeviceSamples& samples) {
  const SampleLayout& layout = samples.layout;
  const std::size_t units = plan_.model.units();
  ProductShape shape;
  shape.kind = kind_;
  shape.m = shape.ldc = layout.features;
  if (plan_.model.in_base256) {
    shape.n = 4 * units;
    shape.k = layout.samples / layout.pieces;
    shape.lda = shape.ldb = layout.samples;
    shape.batch = layout.slots;
    shape.stride_a = layout.features * layout.samples;
    shape.stride_b = 4 * units * layout.samples;
    shape.stride_c = 4 * units * layout.features;
    return std::make_unique<Product>(blas_, shape, samples.turned.data(),
                                     space_.delta_digits.data(), space_.sums.data());
  }
  shape.a_transposed = false;
  shape.n = units;
  shape.k = shape.ldb = layout.chunk;
  shape.lda = layout.features;
  shape.batch = layout.slots * layout.chunks;
  shape.stride_a = layout.chunk * layout.features;
  shape.stride_b = units * layout.chunk;
  shape.stride_c = units * layout.features;
  const Buffer<float>& deltas = plan_.model.hidden() > 0 ? space_.hidden : space_.deltas;
  return std::make_unique<Product>(blas_, shape, samples.values.data(), deltas.data(),
                                   space_.sums.data());
}

Buffer<double> General::scales_of(const Group& group, std::size_t most) const {
  std::vector<double> scales;
  for (std::size_t slot = 0; slot < group.agents.size(); ++slot)
    scales.push_back(weights_[group.agents[slot]] /
                     static_cast<double>(std::min(group.sizes[slot], most)));
  return Buffer<double>(scales);
}

void General::sweep(Queue& queue, const Group& group, const Stage& stage, Rows x, double* values,
                    Rows g) {
  const SampleLayout& layout = stage.samples.layout;
  const Pass pass{plan_.model,
                  phi_,
                  layout,
                  stage.samples,
                  0,
                  layout.features,
                  {group.agent_list.data(), 0, 0},
                  {stage.samples.counts.data(), 0},
                  stage.scales.data(),
                  x,
                  g,
                  l2_};
  record_first_weights(queue, pass, space_);
  record_forward(queue, pass, stage.forward.get());
  record_losses(queue, pass, space_, loss_);
  if (values != nullptr) record_values(queue, pass, space_, plan_.model.dimension(), values);
  if (g) record_back(queue, pass, stage);
}

// Records the pass from features to logits. W1 is prepared already.
void General::record_forward(Queue& queue, const Pass& pass, const Product* product) {
  if (product == nullptr) {
    record_first_layer(queue, pass, space_);
  } else {
    const std::size_t skipped = pass.first_sample * pass.layout.features;
    const void* samples = plan_.model.in_base256
                              ? static_cast<const void*>(pass.samples.pixels.data() + skipped)
                              : pass.samples.values.data() + skipped;
    product->record(queue, samples, space_.weights.data(), space_.sums.data());
    record_first_outputs(queue, pass, space_);
  }
  for (std::size_t l = 2; l <= plan_.model.hidden() + 1; ++l) record_layer(queue, pass, space_, l);
}

void General::record_back(Queue& queue, const Pass& pass, const Stage& stage) {
  for (std::size_t l = plan_.model.hidden() + 1; l > 1; --l) {
    record_layer_gradient(queue, pass, space_, l);
    record_layer_back(queue, pass, space_, l);
  }
  record_first_deltas(queue, pass, space_);
  if (plan_.model.in_base256) {
    const std::size_t piece = pass.layout.samples / pass.layout.pieces;
    for (std::size_t p = 0; p < pass.layout.pieces; ++p)
      stage.back->record(queue, stage.samples.turned.data() + p * piece,
                         space_.delta_digits.data() + p * piece,
                         space_.sums.data() + p * pass.layout.slots * 4 * plan_.model.units() *
                                                  pass.layout.features);
  } else {
    stage.back->record(queue, stage.samples.values.data(), pass.deltas(space_, 1),
                       space_.sums.data());
  }
  record_first_gradient(queue, pass, space_);
}

// A batch uses the buffers of full gradients, so only its copies of samples need memory.
std::vector<Stage> General::make_batches(std::size_t batch) {
  std::vector<Stage> stages;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    Stage stage;
    std::vector<std::uint32_t> counts;
    for (const std::size_t size : group.sizes) counts.push_back(u32(std::min(size, batch)));
    const SampleLayout layout = plan_.batch_layout(plan_.groups[i], batch);
    stage.samples = DeviceSamples(plan_.model, layout, true);
    stage.samples.counts = Buffer<std::uint32_t>(counts);
    stage.samples.columns = Buffer<std::uint32_t>(group.all.samples.columns.download());
    stage.samples.places = Buffer<std::int32_t>(group.all.samples.places.download());
    stage.scales = scales_of(group, batch);
    stage.forward = forward_product(layout, stage.samples.rows(), false);
    stage.back = back_product(stage.samples);
    stages.push_back(std::move(stage));
  }
  return stages;
}

void General::batch_gradient(Queue& queue, Rows x, Rows g, std::uint64_t seed, std::size_t batch) {
  if (!plan_.draws(batch)) return gradient(queue, x, g);
  auto found = batches_.find(batch);
  if (found == batches_.end()) found = batches_.emplace(batch, make_batches(batch)).first;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Stage& stage = found->second[i];
    record_draw(queue, groups_[i].all.samples, stage.samples, groups_[i].agent_list.data(), seed,
                batch);
    sweep(queue, groups_[i], stage, x, nullptr, g);
  }
}

void General::correct(Queue& queue, Rows x, std::size_t rows, std::uint32_t* right) {
  record_zeros(queue, right, rows);
  if (plan_.test.tiles == 0) return;
  for (std::size_t first = 0; first < rows; first += plan_.test.layout.slots)
    test_models(queue, x, first, rows, right);
}

void General::test_models(Queue& queue, Rows x, std::size_t first, std::size_t rows,
                          std::uint32_t* right) {
  SampleLayout layout = plan_.test.layout;
  if (rows - first == 1) layout.slots = 1;
  const Product* forward = (layout.slots == 1 ? test_one_ : test_many_).get();
  for (std::size_t tile = 0; tile < plan_.test.tiles; ++tile) {
    const std::size_t at = tile * layout.samples;
    const Pass pass{plan_.model,
                    phi_,
                    layout,
                    test_,
                    at,
                    0,
                    {nullptr, u32(first), u32(rows - 1)},
                    {nullptr, std::min(layout.samples, test_count_ - at)},
                    nullptr,
                    x,
                    Rows{},
                    l2_};
    if (tile == 0) record_first_weights(queue, pass, space_);
    record_forward(queue, pass, forward);
    record_correct(queue, pass, space_, loss_, std::min(layout.slots, rows - first), right);
  }
}

}  // namespace
}  // namespace general

std::unique_ptr<GeneralObjective> make_general_objective(const Problem& problem, bool tf32) {
  return std::make_unique<general::General>(problem, tf32);
}

}  // namespace ticopd::cuda
