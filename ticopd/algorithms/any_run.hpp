#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/network/cpu.hpp"
#include "ticopd/network/row_metrics.hpp"

namespace ticopd {

// A run lists its state once, in `visit`; checkpoints, metrics and memory estimates read that list.
template <class T>
class StateVisitor {
 public:
  virtual ~StateVisitor() = default;
  virtual void field(std::string_view name, Field<T>& rows) = 0;
  virtual void dual(std::string_view name, Field<T>& rows) { field(name, rows); }
  virtual void mirror(std::string_view name, AnyMirror<T>& mirror) = 0;
};

// A run of any algorithm on any device, behind one interface.
template <class T>
class AnyRun {
 public:
  virtual ~AnyRun() = default;
  virtual void step() = 0;
  // The models in host memory, and all state in `visit`. For a device these are copies, valid until
  // the next step.
  virtual Field<T>& x() = 0;
  virtual void visit(StateVisitor<T>& state) = 0;

  // The numbers that metrics need from all rows, when nothing is in flight. A device that can
  // compute them copies no row to the host.
  virtual RowMetrics row_metrics(AnyNetwork<T>& net) {
    struct Measured final : StateVisitor<T> {
      void field(std::string_view, Field<T>&) override {}
      void dual(std::string_view, Field<T>& rows) override { lambda = &rows; }
      void mirror(std::string_view, AnyMirror<T>& m) override {
        if (!first) first = &m;
      }
      const Field<T>* lambda = nullptr;
      const AnyMirror<T>* first = nullptr;
    } measured;
    const Field<T>& models = x();
    visit(measured);
    return measure_rows(net, models, measured.lambda, measured.first);
  }

  // Called after a checkpoint was loaded and the network has its round.
  virtual void resumed() {
    struct Resume final : StateVisitor<T> {
      void field(std::string_view, Field<T>&) override {}
      void mirror(std::string_view, AnyMirror<T>& m) override { m.resumed(); }
    } resume;
    visit(resume);
  }

  // Completes all exchanges: a mirror may send at the end of a round and receive in the next.
  virtual void complete() {
    struct Receive final : StateVisitor<T> {
      void field(std::string_view, Field<T>&) override {}
      void mirror(std::string_view, AnyMirror<T>& m) override { m.receive(); }
    } receive;
    visit(receive);
  }
};

template <class T>
using RunFactory = std::function<std::unique_ptr<AnyRun<T>>(AnyNetwork<T>&)>;

// On the CPU.
template <class T, class Algorithm>
RunFactory<T> run_factory(Algorithm params) {
  class Run final : public AnyRun<T> {
   public:
    Run(const Algorithm& params, CpuNetwork<T>& net) : run_(params, net) {}
    void step() override { run_.step(); }
    Field<T>& x() override { return run_.x; }
    void visit(StateVisitor<T>& state) override { run_.visit(state); }

   private:
    typename Algorithm::template Run<CpuNetwork<T>> run_;
  };
  return [params](AnyNetwork<T>& net) -> std::unique_ptr<AnyRun<T>> {
    if (auto* cpu = dynamic_cast<CpuNetwork<T>*>(&net)) return std::make_unique<Run>(params, *cpu);
    throw ConfigError("this run was made for the CPU; for Device::cuda cuda::make_algorithm makes it");
  };
}

}  // namespace ticopd
