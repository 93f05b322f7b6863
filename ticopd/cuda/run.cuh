#pragma once

#include <map>
#include <memory>
#include <string>

#include "ticopd/algorithms/any_run.hpp"
#include "ticopd/cuda/network.hpp"

namespace ticopd::cuda {

// Host copies of a run's state, for checkpoints and the digest.
class Staged {
 public:
  // The host copy of a mirror.
  class Mirror final : public AnyMirror<float> {
   public:
    Field<float>& rows() override { return rows_; }
    const Routes<float>& routes() const override { return device_->routes(); }
    const Field<float>& own() const override { return device_->routes().by_link() ? own_ : rows_; }
    void receive() override {}
    void resumed() override {}
    void stage(DeviceMirror& device) {
      device_ = &device;
      device.download(rows_);
      if (device.routes().by_link()) device.own().download(own_);
    }

   private:
    const DeviceMirror* device_ = nullptr;
    Field<float> rows_, own_;
  };

  Field<float>& field(const std::string& name) { return fields_[name]; }
  Mirror& mirror(const std::string& name) { return mirrors_[name]; }

 private:
  std::map<std::string, Field<float>> fields_;
  std::map<std::string, Mirror> mirrors_;
};

// Runs an algorithm on the device.
template <class Algorithm>
class DeviceRun final : public AnyRun<float> {
 public:
  DeviceRun(const Algorithm& params, CudaNetwork& net)
      : net_(with_room(net, footprint_of(params))), run_(params, net) {
    net_.load_problem();
  }

  void step() override { run_.step(); }

  Field<float>& x() override {
    net_.finish();
    run_.x.download(x_);
    return x_;
  }

  void visit(StateVisitor<float>& state) override {
    net_.finish();
    run_.visit(Download{state, staged_});
  }

  RowMetrics row_metrics(AnyNetwork<float>& net, MetricLevel level) override {
    if (!net_.measures_rows()) return AnyRun<float>::row_metrics(net, level);
    Measured measured;
    run_.visit(measured);
    return net_.measure_rows(level, run_.x, measured.lambda, measured.surrogates);
  }

  void complete() override { net_.finish(); }

  void resumed() override {
    net_.finish();
    run_.visit(Upload{staged_});
    net_.finish();
  }

 private:
  static CudaNetwork& with_room(CudaNetwork& net, const Footprint& run) {
    net.require_room(run);
    return net;
  }

  // Copies the state to the host and passes it to a visitor.
  struct Download {
    StateVisitor<float>& state;
    Staged& staged;
    void field(std::string_view name, const DeviceField& rows) {
      rows.download(staged.field(std::string(name)));
      state.field(name, staged.field(std::string(name)));
    }
    void dual(std::string_view name, const DeviceField& rows) {
      rows.download(staged.field(std::string(name)));
      state.dual(name, staged.field(std::string(name)));
    }
    void mirror(std::string_view name, DeviceMirror& m) {
      staged.mirror(std::string(name)).stage(m);
      state.mirror(name, staged.mirror(std::string(name)));
    }
  };
  // Finds the dual and the first mirror's surrogates.
  struct Measured {
    void field(std::string_view, const DeviceField&) {}
    void dual(std::string_view, const DeviceField& rows) { lambda = &rows; }
    void mirror(std::string_view, const DeviceMirror& m) {
      if (!surrogates) surrogates = &m.own();  // of the first
    }
    const DeviceField* lambda = nullptr;
    const DeviceField* surrogates = nullptr;
  };
  // Copies restored state back to the device.
  struct Upload {
    Staged& staged;
    void field(std::string_view name, DeviceField& rows) {
      rows.upload(staged.field(std::string(name)));
    }
    void dual(std::string_view name, DeviceField& rows) { field(name, rows); }
    void mirror(std::string_view name, DeviceMirror& m) {
      m.restore(staged.mirror(std::string(name)).rows());
    }
  };

  CudaNetwork& net_;
  typename Algorithm::template Run<CudaNetwork> run_;
  Field<float> x_;
  Staged staged_;
};

template <class Algorithm>
RunFactory<float> device_run_factory(const Algorithm& params) {
  return [params](AnyNetwork<float>& net) -> std::unique_ptr<AnyRun<float>> {
    return std::make_unique<DeviceRun<Algorithm>>(params, dynamic_cast<CudaNetwork&>(net));
  };
}

}  // namespace ticopd::cuda
