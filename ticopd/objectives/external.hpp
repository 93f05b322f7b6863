#pragma once

#include <memory>

#include "ticopd/objectives/objective.hpp"

namespace ticopd {

// An objective that a program brings to a config with problem.objective = "external". The config
// decides the precision, so both are asked for; null: there is none in this precision.
class ExternalObjective {
 public:
  virtual ~ExternalObjective() = default;
  virtual std::shared_ptr<const Objective<float>> in_float() const = 0;
  virtual std::shared_ptr<const Objective<double>> in_double() const = 0;

  template <class T>
  std::shared_ptr<const Objective<T>> in() const {
    if constexpr (sizeof(T) == sizeof(float))
      return in_float();
    else
      return in_double();
  }
};

}  // namespace ticopd
