#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ticopd/cuda/codecs/device_codec.hpp"
#include "ticopd/cuda/field.hpp"
#include "ticopd/cuda/map.cuh"
#include "ticopd/network/mirror.hpp"
#include "ticopd/network/routes.hpp"

namespace ticopd::cuda {

class CudaNetwork;

// A mirror whose rows all lie on one device. A message is received as soon as it is encoded.
// Payloads of fixed codings are really made, in device memory, and counted there. If the device has
// no such codec, the CPU's mirror does the exchange.
class DeviceMirror {
 public:
  DeviceMirror(CudaNetwork& net, const Mixing& matrix, std::uint16_t channel,
               MirrorOptions options = {});
  ~DeviceMirror();
  DeviceMirror(const DeviceMirror&) = delete;
  DeviceMirror& operator=(const DeviceMirror&) = delete;

  void start_at_common(const DeviceField& v);
  void start_at(const DeviceField& v);

  void send(const DeviceField& v, float gain = 1);
  void send_raw(const DeviceField& v);
  void send_moved(const DeviceField& v, float least, float gain = 1);
  void receive();  // waits for the codec, which may run beside a gradient
  // True if these rows belong to this mirror and its codec may still be writing them.
  bool changes(const float* rows) const;

  const DeviceField& own() const { return mean_of(h_); }
  const DeviceField& estimate() const { return mean_of(kept(estimate_)); }
  const DeviceField& sent() const { return mean_of(kept(sent_)); }
  Mixture mixed() const { return mixture(h_); }
  Mixture mixed_estimate() const { return mixture(kept(estimate_)); }

  // For checkpoints.
  const Routes<float>& routes() const { return routes_; }
  void download(Field<float>& rows) const { h_.download(rows); }
  void restore(const Field<float>& rows);  // at the network's round

  // Adds what was counted since the last call to the ledger.
  void give_counts(Ledger& ledger);

  const DeviceCodec* codec() const { return codec_.get(); }  // null: the host encodes

  // The rows that are sent here in every round, if their squares would save the codec a sweep.
  const float* watched() const { return watched_; }
  Watch watch();  // called when they are written, with their squares
  void forget_squares() { fresh_ = false; }

 private:
  // Terms of a LocalMixing on the device.
  struct Terms {
    Buffer<std::uint32_t> begin;
    Buffer<MixingTerm> terms;
    void upload(const LocalMixing<float>& from);
  };
  struct Call {
    bool raw = false;
    float gain = 1;
    std::optional<float> least = {};
    bool lossless = false;
  };
  void exchange(const DeviceField& v, const Call& call);
  void exchange_on_host(const DeviceField& v, const Call& call);
  void upload_routes();
  void update_means();
  Mixture mixture(const DeviceField& rows) const;
  const DeviceField& mean_of(const DeviceField& rows) const;
  const DeviceField& kept(const DeviceField& rows) const;

  CudaNetwork& net_;
  OwnChannel channel_;
  Routes<float> routes_;
  DeviceField h_, estimate_, sent_;  // by slot of the routes
  DeviceField means_[3];             // of those, per agent, if it has one row per link
  Terms mixing_, mean_;
  Buffer<Message> messages_;
  Buffer<Counters> counters_;     // by slot
  Buffer<std::uint8_t> skipped_;  // by message
  struct Sender {
    std::size_t row;
    std::vector<std::size_t> links;
  };
  std::vector<Sender> senders_;  // by slot
  const float* watched_ = nullptr;
  std::size_t watched_stride_ = 0;
  bool fresh_ = false;  // squares_ match the rows
  bool in_flight_ = false;
  Buffer<double> squares_;
  std::unique_ptr<DeviceCodec> codec_, lossless_;
  std::unique_ptr<CpuMirror<float>> host_;  // instead of codec_
  Field<float> host_v_;
};

}  // namespace ticopd::cuda
