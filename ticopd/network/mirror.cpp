#include "ticopd/network/mirror.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "ticopd/network/clock.hpp"
#include "ticopd/network/cpu.hpp"

namespace ticopd {
namespace {

std::string message_name(int agent, std::uint32_t round, std::uint32_t channel) {
  return "agent " + std::to_string(agent) + ", round " + std::to_string(round) + ", channel " +
         std::to_string(channel);
}

template <class T>
LocalMixing<T> hosted_rows(const Mixing& matrix, const Plan& plan) {
  LocalMixing<T> m;
  for (std::size_t row = 0; row < plan.rows(); ++row) {
    auto& terms = m.rows.emplace_back();
    for (const auto& [agent, weight] : matrix.rows[static_cast<std::size_t>(plan.agent(row))])
      terms.push_back({plan.slot(agent), static_cast<T>(weight)});
  }
  return m;
}

}  // namespace

template <class T>
CpuMirror<T>::CpuMirror(CpuNetwork<T>& net, const Mixing& matrix, std::uint16_t channel,
                        MirrorKeeps keeps)
    : net_(net), channel_(channel), m_(hosted_rows<T>(matrix, net.plan())) {
  const Plan& plan = net.plan();
  const std::size_t d = net.surroundings().objective.dimension();
  for (std::size_t row = 0; row < plan.rows(); ++row) agents_.push_back(plan.agent(row));
  agents_.insert(agents_.end(), plan.ghosts().begin(), plan.ghosts().end());
  h_ = Field<T>(agents_.size(), d);
  if (keeps.estimate) estimate_ = Field<T>(agents_.size(), d);
  if (keeps.sent) sent_ = Field<T>(agents_.size(), d);
  payload_.resize(plan.rows());
  net.count_state(h_.bytes() + estimate_.bytes() + sent_.bytes() +
                  plan.rows() * net.surroundings().codec.payload_bytes(d));
}

template <class T>
void CpuMirror<T>::start_at_common(const Field<T>& v) {
  h_.fill_rows(v.row(0));
}

template <class T>
void CpuMirror<T>::start_at(const Field<T>& v) {
  const auto lossless = make_codec<T>({});
  exchange(v, FrameType::raw, T(1), *lossless);
  receive();
}

template <class T>
void CpuMirror<T>::send(const Field<T>& v, T gain) {
  exchange(v, FrameType::difference, gain, net_.surroundings().codec);
}

template <class T>
void CpuMirror<T>::send_raw(const Field<T>& v) {
  exchange(v, FrameType::raw, T(1), net_.surroundings().codec);
}

template <class T>
void CpuMirror<T>::exchange(const Field<T>& v, FrameType kind, T gain, const Codec<T>& codec) {
  if (in_flight_) throw std::logic_error("Mirror: a second send before receive");
  const PhaseTimer timer(net_.phases().exchange);
  kind_ = kind;
  round_ = net_.round();
  gain_ = gain;
  codec_ = &codec;
  net_.surroundings().pool.run(payload_.size(), [&](std::size_t row) { encode_row(row, v); });
  // Posted by one thread in row order: a receiver then knows whose frame comes next from a rank.
  for (std::size_t row = 0; row < payload_.size(); ++row) post(row);
  const std::size_t most = frame_header_bytes + codec.payload_bytes(h_.cols());
  for (const int agent : net_.plan().ghosts())
    net_.surroundings().transport.expect(net_.plan().owner(agent), channel_, most);
  posted_at_ = seconds_now();
  in_flight_ = true;
}

template <class T>
void CpuMirror<T>::encode_row(std::size_t row, const Field<T>& v) {
  const int agent = agents_[row];
  const Noise message{net_.surroundings().seed, round_, static_cast<std::uint32_t>(agent),
                      channel_};
  const auto apply_here = [this, row](std::size_t first, std::span<const T> q) {
    apply(row, first, q);
  };
  Bytes& out = payload_[row];
  const bool difference = kind_ == FrameType::difference && !codec_->lossless();
  const bool finite = difference ? codec_->encode_difference(v.row(row), std::as_const(h_).row(row),
                                                             message, out, apply_here)
                                 : codec_->encode(v.row(row), message, out);
  if (!finite)
    throw Diverged("diverged: what " + message_name(agent, round_, channel_) +
                   " would send is not finite");
  if (!difference &&  // we apply what we put on the wire
      !codec_->decode_stretches(out, message, v.cols(), apply_here))
    throw std::logic_error("a codec refused its own payload: " +
                           message_name(agent, round_, channel_));
}

// The one place where a surrogate moves, for the sender's rows and the receivers' ghosts alike.
template <class T>
void CpuMirror<T>::apply(std::size_t slot, std::size_t first, std::span<const T> q) {
  const std::size_t d = q.size();
  T* h = h_.row(slot).data() + first;
  T* estimate = estimate_.size() > 0 ? estimate_.row(slot).data() + first : nullptr;
  T* sent = sent_.size() > 0 ? sent_.row(slot).data() + first : nullptr;
  const T gain = gain_;
  const bool raw = kind_ == FrameType::raw;
  const bool whole = raw || codec_->lossless();  // q is the vector, not a difference
  wide([=] {
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
void CpuMirror<T>::post(std::size_t row) {
  const auto& s = net_.surroundings();
  net_.ledger().count(row, payload_[row].size(), codec_->paper_bits(h_.cols()));
  const std::vector<int>& listeners = net_.plan().listeners(row);
  if (listeners.empty()) return;
  FrameHeader header;
  header.type = kind_;
  header.channel = channel_;
  header.round = round_;
  header.agent = static_cast<std::uint32_t>(agents_[row]);
  header.scalar_bytes = sizeof(T);
  header.d = h_.cols();
  header.surrogate = hash_row(std::as_bytes(std::as_const(h_).row(row)));
  const Bytes frame = make_frame(header, payload_[row]);
  for (const int rank : listeners) s.transport.send(rank, channel_, frame);
}

template <class T>
void CpuMirror<T>::receive() {
  if (!in_flight_) return;
  const PhaseTimer timer(net_.phases().exchange);
  const std::vector<int>& ghosts = net_.plan().ghosts();
  Transport& transport = net_.surroundings().transport;
  const std::size_t most = frame_header_bytes + codec_->payload_bytes(h_.cols());
  const double asked_at = seconds_now();
  double last_at = 0;
  std::vector<Bytes> frames;
  for (const int agent : ghosts) {
    frames.push_back(take_in(agent, most));
    last_at = std::max(last_at, transport.arrived_at());
  }
  if (!ghosts.empty()) net_.overlap().add(posted_at_, last_at, seconds_now() - asked_at);
  net_.surroundings().pool.run(frames.size(), [&](std::size_t g) { take(g, frames[g]); });
  in_flight_ = false;
}

// A frame that is too long is refused by the transport, which cannot know what it should have been.
template <class T>
Bytes CpuMirror<T>::take_in(int agent, std::size_t most) try {
  return net_.surroundings().transport.receive(net_.plan().owner(agent), channel_, most);
} catch (const FormatError& e) {
  throw FormatError("frame of " + message_name(agent, round_, channel_) + ": " + e.what());
}

template <class T>
void CpuMirror<T>::take(std::size_t ghost, std::span<const std::byte> frame) {
  const std::size_t slot = net_.plan().rows() + ghost;
  const int agent = agents_[slot];
  const auto refuse = [&](const std::string& why) {
    throw FormatError("frame of " + message_name(agent, round_, channel_) + ": " + why);
  };
  FrameHeader header;
  std::span<const std::byte> body;
  if (!parse_frame(frame, header, body)) refuse("damaged (length, magic, version or checksum)");
  if (header.agent != static_cast<std::uint32_t>(agent) || header.round != round_ ||
      header.channel != channel_)
    refuse("came instead: " + message_name(static_cast<int>(header.agent),
                                           static_cast<std::uint32_t>(header.round),
                                           header.channel));
  if (header.type != kind_ || header.scalar_bytes != sizeof(T) || header.d != h_.cols())
    refuse("another type, precision or dimension than ours");
  const Noise message{net_.surroundings().seed, round_, header.agent, channel_};
  const auto apply_here = [&](std::size_t first, std::span<const T> q) { apply(slot, first, q); };
  if (!codec_->decode_stretches(body, message, h_.cols(), apply_here))
    refuse("the codec refuses its payload");
  if (hash_row(std::as_bytes(std::as_const(h_).row(slot))) != header.surrogate)
    refuse("our copy of its surrogate differs from the sender's after applying it");
}

template <class T>
const Field<T>& CpuMirror<T>::arrived(const Field<T>& rows) const {
  if (in_flight_) throw std::logic_error("Mirror: a mixture is read before receive");
  return rows;
}

template <class T>
const Field<T>& CpuMirror<T>::kept(const Field<T>& rows) const {
  if (rows.rows() != agents_.size())
    throw std::logic_error("Mirror: reads what MirrorKeeps did not ask to keep");
  return rows;
}

template class CpuMirror<float>;
template class CpuMirror<double>;

}  // namespace ticopd
