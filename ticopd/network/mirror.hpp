#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/network/field.hpp"
#include "ticopd/network/operand.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd {

template <class T>
class CpuNetwork;

// What else of an exchange an algorithm wants kept, besides the surrogate h.
struct MirrorKeeps {
  bool estimate = false;  // h_old + q, for methods whose memory moves by only a part of q
  bool sent = false;      // q
};

// A surrogate h of some rows that every neighbour can follow from compressed messages:
// h += gain Q(v - h). A process keeps the surrogates of its own agents and one ghost row for each
// remote neighbour; both ends apply the same decoded bytes, so they cannot drift apart (each frame
// carries a hash of the sender's surrogate, which the receiver checks).
template <class T>
class CpuMirror {
 public:
  // `matrix` is what mixed() multiplies by. Each mirror of a run has its own channel.
  CpuMirror(CpuNetwork<T>& net, const Mixing& matrix, std::uint16_t channel,
            MirrorKeeps keeps = {});

  // h starts at rows that everyone knows already (the common x0): costs nothing.
  void start_at_common(const Field<T>& v);
  // h starts at rows that only their owners know: they travel once, in full, and are counted.
  void start_at(const Field<T>& v);

  // The exchange in two halves. What stands between them overlaps the wire.
  void send(const Field<T>& v, T gain = T(1));  // h += gain Q(v - h)
  void send_raw(const Field<T>& v);             // h  = Q(v)
  void skip() {}                                // nothing travels this round
  void receive();                               // no-op where nothing is in flight

  const Field<T>& own() const { return h_; }  // rows of hosted agents first, then ghosts
  Mixture<T> mixed() const { return {&arrived(h_), &m_}; }
  const Field<T>& estimate() const { return kept(estimate_); }
  Mixture<T> mixed_estimate() const { return {&arrived(kept(estimate_)), &m_}; }
  const Field<T>& sent() const { return kept(sent_); }  // of the last exchange

  // For checkpoints: the agent whose surrogate lies in each row of own().
  Field<T>& rows() { return h_; }
  const std::vector<int>& agents() const { return agents_; }

 private:
  void exchange(const Field<T>& v, FrameType kind, T gain, const Codec<T>& codec);
  void encode_row(std::size_t row, const Field<T>& v);
  void post(std::size_t row);
  Bytes take_in(int agent, std::size_t most);
  void take(std::size_t ghost, std::span<const std::byte> frame);
  void apply(std::size_t slot, std::size_t first, std::span<const T> q);
  const Field<T>& arrived(const Field<T>& rows) const;
  const Field<T>& kept(const Field<T>& rows) const;

  CpuNetwork<T>& net_;
  std::uint16_t channel_;
  LocalMixing<T> m_;
  std::vector<int> agents_;
  Field<T> h_, estimate_, sent_;
  std::vector<Bytes> payload_;  // by hosted row
  bool in_flight_ = false;
  double posted_at_ = 0;
  std::uint32_t round_ = 0;  // of the last exchange: it may be received in the next round
  FrameType kind_ = FrameType::difference;
  T gain_ = T(1);
  const Codec<T>* codec_ = nullptr;  // of the exchange in flight
};

extern template class CpuMirror<float>;
extern template class CpuMirror<double>;

}  // namespace ticopd
