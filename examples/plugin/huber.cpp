// An objective over samples: ticopd run FILE --plugin ./huber.so --set problem.objective=huber
// --set problem.data=csv:... or any other data whose labels are numbers.
#include <cmath>
#include <ticopd/objectives/linear.hpp>
#include <ticopd/plugin.hpp>

namespace {

using ticopd::ObjectiveOptions;

// Regression that outliers do not spoil: with r = a.x - b, r^2 / 2 where |r| <= delta, and
// delta (|r| - delta / 2) beyond. Linear brings the products with the samples, batches and l2.
template <class T>
class Huber final : public ticopd::Linear<T> {
 public:
  static constexpr ticopd::ObjectiveAbout about{.name = "huber",
                                                .labels = ticopd::Labels::targets,
                                                .init = "zero",
                                                .summary = "regression with Huber's loss",
                                                .options = {"delta"}};
  static std::unique_ptr<ticopd::Model<T>> make(const ObjectiveOptions& options,
                                                ticopd::ProblemSizes sizes) {
    return std::make_unique<Huber>(sizes.features, ticopd::own_value<double>(options, "delta"));
  }

  Huber(std::size_t features, double delta) : ticopd::Linear<T>(features), delta_(delta) {}

  bool classifies() const override { return false; }
  std::size_t correct(ticopd::Lanes<T>, std::span<const T>, std::span<const T>) const override {
    return 0;
  }

 protected:
  typename ticopd::Linear<T>::Loss loss_of(double z, double label) const override {
    const double r = z - label;
    if (std::abs(r) <= delta_) return {r * r / 2, r};
    return {delta_ * (std::abs(r) - delta_ / 2), r > 0 ? delta_ : -delta_};
  }

 private:
  double delta_;
};

}  // namespace

TICOPD_PLUGIN("huber", "1.0") {
  using namespace ticopd;
  objective_options_table().add(own_option<ObjectiveOptions>(
      "delta", domain::above(0), 1.0, "`huber`: residuals beyond it count linearly"));
  objective_table().add(objective_info<Huber>());
}
