#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/network/any_network.hpp"
#include "ticopd/network/field.hpp"
#include "ticopd/network/operand.hpp"
#include "ticopd/network/routes.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd {

template <class T>
class CpuNetwork;

// What a mirror keeps besides the surrogate h, if an algorithm needs it.
struct MirrorOptions {
  bool estimate = false;  // keep h_old + q, for methods whose memory moves by only a part of q
  bool sent = false;      // keep q
  bool dense = false;     // rows travel uncompressed, whatever the codec
};

// A surrogate h of some rows that every neighbour can follow from compressed messages:
// h += gain Q(v - h). A process keeps the surrogates of its own agents and one ghost row for each
// remote neighbour; both ends apply the same decoded bytes, so they cannot drift apart (each frame
// carries a hash of the sender's surrogate, which the receiver checks).
template <class T>
class CpuMirror final : public AnyMirror<T> {
 public:
  // `matrix` is what mixed() multiplies by. Each mirror of a run has its own channel.
  CpuMirror(CpuNetwork<T>& net, const Mixing& matrix, std::uint16_t channel,
            MirrorOptions options = {});

  // h starts at rows that all agents already know (the common x0). This sends nothing.
  void start_at_common(const Field<T>& v);
  // h starts at rows that only their owners know. They are sent once, in full, and counted.
  void start_at(const Field<T>& v);

  // The exchange in two halves. The work between them overlaps the transfer.
  void send(const Field<T>& v, T gain = T(1));  // h += gain Q(v - h)
  void send_raw(const Field<T>& v);             // h  = Q(v)
  // Sends only the rows that are far from their surrogates, ||v - h||^2 > least. For the others a
  // frame tells the neighbours that nothing changes.
  void send_moved(const Field<T>& v, T least, T gain = T(1));
  void receive() override;

  // Rows of hosted agents first, then ghosts. If links come and go, an agent has a surrogate for
  // each link, and this is their mean.
  const Field<T>& own() const override { return mean_of(h_); }
  Mixture<T> mixed() const { return {&arrived(h_), &routes_.mixing()}; }
  const Field<T>& estimate() const { return mean_of(kept(estimate_)); }
  Mixture<T> mixed_estimate() const { return {&arrived(kept(estimate_)), &routes_.mixing()}; }
  const Field<T>& sent() const { return mean_of(kept(sent_)); }  // of the last exchange

  Field<T>& rows() override;
  const Routes<T>& routes() const override { return routes_; }
  const Field<T>& estimates() const { return estimate_; }  // by slot, as rows()
  const Field<T>& sent_rows() const { return sent_; }
  void resumed() override;

 private:
  using Message = typename Routes<T>::Message;
  using Arrival = typename Routes<T>::Arrival;

  // What the messages of one exchange have in common.
  struct Exchange {
    std::uint32_t round = 0;  // of send; receive may come in the next round
    FrameType kind = FrameType::difference;
    T gain = T(1);
    std::optional<T> least = {};  // send_moved
    const Codec<T>* codec = nullptr;
  };
  void exchange(const Field<T>& v, Exchange now);
  void encode_and_send(const Field<T>& v);
  void encode(std::size_t message, const Field<T>& v);
  void post(std::size_t message);
  Bytes take_in(const Arrival& from, std::size_t most);
  void take(const Arrival& from, std::span<const std::byte> frame);
  void stay(std::size_t slot);
  void apply(std::size_t slot, std::size_t first, std::span<const T> q);
  void apply_disturbed(std::size_t slot, const MessageId& message, std::size_t first,
                       std::span<const T> q);
  MessageId name_of(int agent, int to) const;
  void update_means();
  const Field<T>& arrived(const Field<T>& rows) const;
  const Field<T>& kept(const Field<T>& rows) const;
  const Field<T>& mean_of(const Field<T>& rows) const;

  CpuNetwork<T>& net_;
  OwnChannel channel_;
  Routes<T> routes_;
  Field<T> h_, estimate_, sent_;  // by slot of the routes
  Field<T> means_[3];             // of those, per hosted agent, if it has one row per link
  std::unique_ptr<Codec<T>> lossless_;
  bool dense_;
  struct Encoded {
    Bytes payload;
    bool skipped = false;
    std::uint64_t saturated = 0;
  };
  std::vector<Encoded> encoded_;  // by message
  bool in_flight_ = false;
  double posted_at_ = 0;
  Exchange now_;  // the last one
};

extern template class CpuMirror<float>;
extern template class CpuMirror<double>;

}  // namespace ticopd
