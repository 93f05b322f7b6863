#pragma once

#include <any>
#include <memory>

#include "ticopd/algorithms/all.hpp"
#include "ticopd/algorithms/any_run.hpp"
#include "ticopd/error.hpp"
#include "ticopd/network/cpu.hpp"

namespace ticopd {

// Compiles the run of an algorithm on the CPU, wherever it is instantiated.
template <class T, class Algorithm>
RunFactory<T> compile_run(Algorithm params) {
  class CpuRun final : public AnyRun<T> {
   public:
    CpuRun(const Algorithm& params, CpuNetwork<T>& net) : run_(params, net) {}
    void step() override { run_.step(); }
    Field<T>& x() override { return run_.x; }
    void visit(StateVisitor<T>& state) override { run_.visit(state); }

   private:
    typename Algorithm::template Run<CpuNetwork<T>> run_;
  };
  return [params](AnyNetwork<T>& net) -> std::unique_ptr<AnyRun<T>> {
    if (auto* cpu = dynamic_cast<CpuNetwork<T>*>(&net)) return std::make_unique<CpuRun>(params, *cpu);
    throw ConfigError("this run was made for the CPU; for Device::cuda cuda::make_algorithm makes it");
  };
}

// The library's own compiled run; `params` holds the struct of an algorithm of the table.
template <class T>
RunFactory<T> table_run(const std::any& params);

extern template RunFactory<float> table_run<float>(const std::any&);
extern template RunFactory<double> table_run<double>(const std::any&);

// The run of an algorithm on the CPU. The library carries those of the table, so a program that
// uses them compiles none; an algorithm of the user's own is compiled here.
template <class T, class Algorithm>
RunFactory<T> run_factory(Algorithm params) {
  if constexpr (in_table<Algorithm>(All{}))
    return table_run<T>(params);
  else
    return compile_run<T>(params);
}

}  // namespace ticopd
