#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "ticopd/network/any_network.hpp"
#include "ticopd/network/mirror.hpp"
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
  virtual RowMetrics row_metrics(AnyNetwork<T>& net, MetricLevel level) {
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
    return measure_rows(net, level, models, measured.lambda, measured.first);
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

}  // namespace ticopd
