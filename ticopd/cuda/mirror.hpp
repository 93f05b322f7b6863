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

// A mirror whose rows all lie on one device: what is sent is received when it is encoded, and
// nothing is in flight between the two. Payloads of fixed codings are really made, in memory of the
// device, and counted there. Where the device has no such codec the exchange is the CPU's own.
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
  void receive();  // what was sent is here already; nobody runs beside it any more
  // Whether these rows are of this mirror, and its codec may be at them, beside what is asked next.
  bool changes(const float* rows) const;

  const DeviceField& own() const { return mean_of(h_); }
  const DeviceField& estimate() const { return mean_of(kept(estimate_)); }
  const DeviceField& sent() const { return mean_of(kept(sent_)); }
  Mixture mixed() const { return mixture(h_); }
  Mixture mixed_estimate() const { return mixture(kept(estimate_)); }

  // For checkpoints.
  const Routes<float>& routes() const { return routes_; }
  void download(Field<float>& rows) const { h_.download(rows); }
  void restore(const Field<float>& rows);  // of the round that the network has now

  // Moves what was counted since the last time to the ledger.
  void give_counts(Ledger& ledger);

  const DeviceCodec* codec() const { return codec_.get(); }  // null: the host's

  // The rows that are sent here in every round, if their squares would save the codec a sweep.
  const float* watched() const { return watched_; }
  Watch watch();  // they are written now, and their squares left
  void forget_squares() { fresh_ = false; }

 private:
  // Terms of a LocalMixing on the device, with room for the longest.
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
  DeviceField means_[3];             // of those, by agent, where it has several
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
  bool fresh_ = false;  // squares_ are of the rows as they are
  bool in_flight_ = false;
  Buffer<double> squares_;
  std::unique_ptr<DeviceCodec> codec_, lossless_;
  std::unique_ptr<CpuMirror<float>> host_;  // instead of codec_
  Field<float> host_v_;
};

}  // namespace ticopd::cuda
