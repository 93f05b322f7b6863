#include "ticopd/network/mirror.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "ticopd/network/cpu.hpp"
#include "ticopd/numeric/sum.hpp"
#include "ticopd/system/clock.hpp"

namespace ticopd {
namespace {

// Names a message in errors.
std::string message_name(int agent, std::uint32_t round, std::uint32_t channel) {
  return "agent " + std::to_string(agent) + ", round " + std::to_string(round) + ", channel " +
         std::to_string(channel);
}

}  // namespace

template <class T>
CpuMirror<T>::CpuMirror(CpuNetwork<T>& net, const Mixing& matrix, std::uint16_t channel,
                        MirrorOptions options)
    : net_(net),
      channel_(net.channel(channel)),
      routes_(matrix, net.placement(), net.surroundings().graph, net.surroundings().links,
              net.surroundings().seed),
      lossless_(make_codec<T>({})),
      dense_(options.dense) {
  const std::size_t d = net.surroundings().objective.dimension(), slots = routes_.ids().size();
  h_ = Field<T>(slots, d);
  if (options.estimate) estimate_ = Field<T>(slots, d);
  if (options.sent) sent_ = Field<T>(slots, d);
  if (routes_.by_link())
    for (std::size_t i = 0; i < 3; ++i)
      if (i == 0 || (i == 1 && options.estimate) || (i == 2 && options.sent))
        means_[i] = Field<T>(net.placement().rows(), d);
  net.count_state(h_.bytes() + estimate_.bytes() + sent_.bytes() + means_[0].bytes() +
                  means_[1].bytes() + means_[2].bytes() +
                  routes_.messages().size() * net.surroundings().codec.payload_bytes(d));
}

template <class T>
void CpuMirror<T>::start_at_common(const Field<T>& v) {
  if (net_.surroundings().start_of) return start_at(v);  // nobody knows the others' starts
  h_.fill_rows(v.row(0));
  update_means();
}

template <class T>
void CpuMirror<T>::start_at(const Field<T>& v) {
  exchange(v, {.kind = FrameType::raw, .codec = lossless_.get()});
  receive();
}

template <class T>
void CpuMirror<T>::send(const Field<T>& v, T gain) {
  exchange(v, {.gain = gain});
}

template <class T>
void CpuMirror<T>::send_raw(const Field<T>& v) {
  exchange(v, {.kind = FrameType::raw});
}

template <class T>
void CpuMirror<T>::send_moved(const Field<T>& v, T least, T gain) {
  exchange(v, {.gain = gain, .least = least});
}

template <class T>
void CpuMirror<T>::exchange(const Field<T>& v, Exchange now) {
  if (in_flight_) throw std::logic_error("Mirror: a second send before receive");
  if (net_.surroundings().restored && net_.round() == 0) return;
  now_ = now;
  now_.round = net_.round();
  if (!now_.codec) now_.codec = dense_ ? lossless_.get() : &net_.surroundings().codec;
  in_flight_ = true;
  net_.post(v, [this, &v] { encode_and_send(v); });
}

template <class T>
void CpuMirror<T>::encode_and_send(const Field<T>& v) {
  in_flight_ = false;  // if a row is refused
  routes_.at(now_.round);
  if (routes_.by_link())
    for (std::size_t slot = 0; slot < routes_.hosted(); ++slot)
      stay(slot);  // slots without a message
  encoded_.resize(routes_.messages().size());
  net_.surroundings().pool.run(encoded_.size(), [&](std::size_t m) { encode(m, v); });
  update_means();
  // One thread posts them in order, so a receiver knows whose frame comes next from a rank.
  for (std::size_t m = 0; m < encoded_.size(); ++m) post(m);
  const std::size_t most = frame_header_bytes + now_.codec->payload_bytes(h_.cols());
  for (const Arrival& from : routes_.arrivals())
    net_.surroundings().transport.expect(from.rank, channel_, most);
  posted_at_ = seconds_now();
  in_flight_ = true;
}

// Each link of an agent draws its own noise.
template <class T>
MessageId CpuMirror<T>::name_of(int agent, int to) const {
  return {net_.surroundings().seed, now_.round, static_cast<std::uint32_t>(agent),
          channel_ + (to < 0 ? 0u : 64u * (static_cast<std::uint32_t>(to) + 1))};
}

template <class T>
void CpuMirror<T>::encode(std::size_t message, const Field<T>& v) {
  const Message& m = routes_.messages()[message];
  const int agent = net_.placement().agent(m.row);
  const MessageId name = name_of(agent, m.to);
  const std::span<const T> row = v.row(m.row), h = std::as_const(h_).row(m.slot);
  Encoded& out = encoded_[message];
  const auto refuse = [&] {
    throw Diverged("diverged: the message of " + message_name(agent, now_.round, channel_) +
                   " is not finite, or outside the codec's range");
  };
  out.skipped = false;
  out.saturated = 0;
  if (now_.least) {
    const double distance = sum_of_squared_differences<T>(row, h);
    if (!std::isfinite(distance)) refuse();
    if ((out.skipped = !(distance > static_cast<double>(*now_.least)))) {
      out.payload.clear();
      stay(m.slot);
      return;
    }
  }
  const Codec<T>& codec = *now_.codec;
  const auto apply_here = [&](std::size_t first, std::span<const T> q) {
    apply_disturbed(m.slot, name, first, q);
  };
  const bool difference = now_.kind == FrameType::difference && !codec.lossless();
  out.saturated = codec.saturated(difference ? Source<T>(row, h) : Source<T>(row), name);
  if (!(difference ? codec.encode_difference(row, h, name, out.payload, apply_here)
                   : codec.encode(row, name, out.payload)))
    refuse();
  if (!difference &&  // the sender applies the bytes it sends
      !codec.decode_in_chunks(out.payload, name, v.cols(), apply_here))
    throw std::logic_error("a codec refused its own payload: " +
                           message_name(agent, now_.round, channel_));
}

// Without a message q = 0, and the surrogate stays.
template <class T>
void CpuMirror<T>::stay(std::size_t slot) {
  if (estimate_.size() > 0)
    std::ranges::copy(std::as_const(h_).row(slot), estimate_.row(slot).begin());
  if (sent_.size() > 0) std::ranges::fill(sent_.row(slot), T(0));
}

template <class T>
void CpuMirror<T>::apply_disturbed(std::size_t slot, const MessageId& message, std::size_t first,
                                   std::span<const T> q) {
  const ChannelNoise& channel = net_.surroundings().channel_noise;
  if (!channel.any() || !now_.codec->travels(message)) return apply(slot, first, q);
  thread_local std::vector<T> disturbed;
  disturbed.assign(q.begin(), q.end());
  channel.add(message, first, std::span<T>(disturbed));
  apply(slot, first, disturbed);
}

// The only place where a surrogate moves, for the sender's rows and for the receivers' ghost rows.
template <class T>
void CpuMirror<T>::apply(std::size_t slot, std::size_t first, std::span<const T> q) {
  const std::size_t d = q.size();
  T* h = h_.row(slot).data() + first;
  T* estimate = estimate_.size() > 0 ? estimate_.row(slot).data() + first : nullptr;
  T* sent = sent_.size() > 0 ? sent_.row(slot).data() + first : nullptr;
  const T gain = now_.gain;
  const bool raw = now_.kind == FrameType::raw;
  const bool whole = raw || now_.codec->lossless();  // q is the vector, not a difference
  with_widest_vectors([=] {
    for (std::size_t k = 0; sent && k < d; ++k) sent[k] = whole && !raw ? q[k] - h[k] : q[k];
    for (std::size_t k = 0; estimate && k < d; ++k) estimate[k] = whole ? q[k] : h[k] + q[k];
    if (!whole)
      for (std::size_t k = 0; k < d; ++k) h[k] = h[k] + gain * q[k];
    else if (gain == T(1))
      for (std::size_t k = 0; k < d; ++k) h[k] = q[k];
    else
      for (std::size_t k = 0; k < d; ++k) h[k] = h[k] + gain * (q[k] - h[k]);
  });
}

template <class T>
void CpuMirror<T>::post(std::size_t message) {
  const Message& m = routes_.messages()[message];
  const Encoded& e = encoded_[message];
  const double flag = now_.least ? 1 : 0;  // one bit says if there is a message
  net_.ledger().count(m.row, e.payload.size(),
                      flag + (e.skipped ? 0 : now_.codec->paper_bits_of(e.payload, h_.cols())),
                      m.links);
  net_.ledger().agents[m.row].saturated += e.saturated;
  if (m.ranks.empty()) return;
  FrameHeader header;
  header.type = e.skipped ? FrameType::skip : now_.kind;
  header.channel = channel_;
  header.round = now_.round;
  header.agent = static_cast<std::uint32_t>(net_.placement().agent(m.row));
  header.scalar_bytes = sizeof(T);
  header.d = h_.cols();
  header.surrogate = hash_row(std::as_bytes(std::as_const(h_).row(m.slot)));
  const Bytes frame = make_frame(header, e.payload);
  for (const int rank : m.ranks) net_.surroundings().transport.send(rank, channel_, frame);
}

template <class T>
void CpuMirror<T>::receive() {
  if (!in_flight_) return;
  net_.finish_posted();
  const PhaseTimer timer(net_.phases().exchange);
  const std::vector<Arrival>& arrivals = routes_.arrivals();
  Transport& transport = net_.surroundings().transport;
  const std::size_t most = frame_header_bytes + now_.codec->payload_bytes(h_.cols());
  const double asked_at = seconds_now();
  double last_at = 0;
  std::vector<Bytes> frames;
  for (const Arrival& from : arrivals) {
    frames.push_back(take_in(from, most));
    last_at = std::max(last_at, transport.arrived_at());
  }
  if (!arrivals.empty()) net_.overlap().add(posted_at_, last_at, seconds_now() - asked_at);
  net_.surroundings().pool.run(frames.size(), [&](std::size_t i) { take(arrivals[i], frames[i]); });
  in_flight_ = false;
}

// The transport refuses a frame that is too long, but it does not know which frame was expected.
template <class T>
Bytes CpuMirror<T>::take_in(const Arrival& from, std::size_t most) try {
  return net_.surroundings().transport.receive(from.rank, channel_, most);
} catch (const FormatError& e) {
  throw FormatError("frame of " + message_name(from.agent, now_.round, channel_) + ": " + e.what());
}

template <class T>
void CpuMirror<T>::take(const Arrival& from, std::span<const std::byte> frame) {
  const auto refuse = [&](const std::string& why) {
    throw FormatError("frame of " + message_name(from.agent, now_.round, channel_) + ": " + why);
  };
  FrameHeader header;
  std::span<const std::byte> body;
  if (!parse_frame(frame, header, body)) refuse("damaged (length, magic, version or checksum)");
  if (header.agent != static_cast<std::uint32_t>(from.agent) || header.round != now_.round ||
      header.channel != channel_)
    refuse("came instead: " + message_name(static_cast<int>(header.agent),
                                           static_cast<std::uint32_t>(header.round),
                                           header.channel));
  const bool skipped = header.type == FrameType::skip && now_.least && body.empty();
  if ((header.type != now_.kind && !skipped) || header.scalar_bytes != sizeof(T) ||
      header.d != h_.cols())
    refuse("its type, precision or dimension differs from ours");
  const MessageId name = name_of(from.agent, from.to);
  const auto apply_here = [&](std::size_t first, std::span<const T> q) {
    apply_disturbed(from.slot, name, first, q);
  };
  if (skipped) stay(from.slot);
  if (!skipped && !now_.codec->decode_in_chunks(body, name, h_.cols(), apply_here))
    refuse("the codec rejects its payload");
  if (hash_row(std::as_bytes(std::as_const(h_).row(from.slot))) != header.surrogate)
    refuse("our copy of its surrogate differs from the sender's after applying it");
}

template <class T>
void CpuMirror<T>::update_means() {
  if (!routes_.by_link()) return;
  struct Assign {
    constexpr void operator()(T& mean, T value) const { mean = value; }
  };
  const Field<T>* rows[] = {&h_, &estimate_, &sent_};
  for (std::size_t i = 0; i < 3; ++i)
    if (means_[i].size() > 0) net_.map(Assign{}, means_[i], Mixture<T>{rows[i], &routes_.mean()});
}

template <class T>
Field<T>& CpuMirror<T>::rows() {
  net_.finish_posted();
  return h_;
}

template <class T>
void CpuMirror<T>::resumed() {
  net_.finish_posted();
  routes_.at(net_.round());
  update_means();
}

template <class T>
const Field<T>& CpuMirror<T>::mean_of(const Field<T>& rows) const {
  net_.finish_posted();
  if (!routes_.by_link()) return rows;
  return means_[&rows == &h_ ? 0 : &rows == &estimate_ ? 1 : 2];
}

template <class T>
const Field<T>& CpuMirror<T>::arrived(const Field<T>& rows) const {
  if (in_flight_) throw std::logic_error("Mirror: a mixture was read before receive");
  return rows;
}

template <class T>
const Field<T>& CpuMirror<T>::kept(const Field<T>& rows) const {
  if (rows.rows() != h_.rows())
    throw std::logic_error("Mirror: estimate or sent is not set in MirrorOptions");
  return rows;
}

template class CpuMirror<float>;
template class CpuMirror<double>;

}  // namespace ticopd
