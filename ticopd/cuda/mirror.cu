#include <stdexcept>

#include "ticopd/cuda/codecs/report.cuh"
#include "ticopd/cuda/mirror.hpp"
#include "ticopd/cuda/network.hpp"
#include "ticopd/cuda/runtime/tree_sum.cuh"

namespace ticopd::cuda {
namespace {

// skipped[m] = 1 unless ||row - surrogate||^2 > least. One thread block per message.
__global__ void __launch_bounds__(row_sum_threads)
    find_unmoved(Rows v, Rows h, const Message* messages, std::size_t d, float least,
                 Trouble* trouble, std::uint8_t* skipped, Round round) {
  const Message m = messages[blockIdx.x];
  const float *row = v.row(m.row), *surrogate = h.row(m.slot);
  const double distance = row_sum(d, [=](std::size_t k) {
    const double a = static_cast<double>(row[k]) - static_cast<double>(surrogate[k]);
    return a * a;
  });
  if (threadIdx.x != 0) return;
  skipped[blockIdx.x] = !(distance > static_cast<double>(least));
  if (!isfinite(distance)) report(trouble, m, round.number());
}

// Without a message q = 0.
__global__ void stay_as_they_are(Rows h, Rows estimate, Rows sent, std::size_t d) {
  const std::size_t k = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (k >= d) return;
  if (estimate) estimate.row(blockIdx.y)[k] = h.row(blockIdx.y)[k];
  if (sent) sent.row(blockIdx.y)[k] = 0;
}

__global__ void copy_common(Rows h, Rows v, std::size_t d) {
  const std::size_t k = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (k < d) h.row(blockIdx.y)[k] = v.row(0)[k];
}

Grid every_coordinate(const DeviceField& rows) {
  return {.blocks = dim3(static_cast<unsigned>((rows.cols() + 255) / 256),
                         static_cast<unsigned>(rows.rows())),
          .threads = dim3(256)};
}

struct Assign {
  constexpr void operator()(float& mean, float value) const { mean = value; }
};

}  // namespace

void DeviceMirror::Terms::upload(const LocalMixing<float>& from) {
  std::vector<std::uint32_t> first{0};
  std::vector<MixingTerm> all;
  for (const auto& row : from.rows) {
    for (const auto& term : row)
      all.push_back({static_cast<std::uint32_t>(term.slot), term.weight});
    first.push_back(static_cast<std::uint32_t>(all.size()));
  }
  if (begin.size() < first.size()) begin = Buffer<std::uint32_t>(first.size());
  if (terms.size() < all.size()) terms = Buffer<MixingTerm>(all.size());
  begin.upload(first);
  if (!all.empty()) terms.upload(all);
}

DeviceMirror::DeviceMirror(CudaNetwork& net, const Mixing& matrix, std::uint16_t channel,
                           MirrorOptions options)
    : net_(net),
      channel_(net.channel(channel)),
      routes_(matrix, net.placement(), net.surroundings().graph, net.surroundings().links,
              net.surroundings().seed) {
  const std::size_t d = net.surroundings().objective.dimension(), slots = routes_.ids().size();
  h_ = DeviceField(slots, d);
  if (options.estimate) estimate_ = DeviceField(slots, d);
  if (options.sent) sent_ = DeviceField(slots, d);
  if (routes_.by_link()) {
    const bool wanted[] = {true, options.estimate, options.sent};
    for (std::size_t i = 0; i < 3; ++i)
      if (wanted[i]) means_[i] = DeviceField(net.placement().rows(), d);
    mean_.upload(routes_.mean());
    // Room for a round in which every link is active, because recorded work keeps its addresses.
    std::size_t terms = 0;
    for (const auto& row : matrix.rows) terms += 2 * row.size();
    mixing_.begin = Buffer<std::uint32_t>(net.placement().rows() + 1);
    mixing_.terms = Buffer<MixingTerm>(terms);
  }
  counters_ = Buffer<Counters>(slots);
  messages_ = Buffer<Message>(slots);
  skipped_ = Buffer<std::uint8_t>(slots);
  senders_.resize(slots);
  if (routes_.by_link()) {
    std::size_t slot = 0;
    for (std::size_t row = 0; row < net.placement().rows(); ++row)
      for (std::size_t link = 0;
           link < net.surroundings().graph.neighbours(net.placement().agent(row)).size(); ++link)
        senders_[slot++] = {row, {link}};
  } else {
    for (const auto& m : routes_.messages()) senders_[m.slot] = {m.row, m.links};
  }
  const CodecOptions identity;
  const CodecOptions* chosen = options.dense ? &identity : net.surroundings().codec.options();
  lossless_ = make_device_codec(identity, d, slots);
  if (chosen) codec_ = make_device_codec(*chosen, d, slots);
  if (!codec_) host_ = std::make_unique<CpuMirror<float>>(net.host(), matrix, channel, options);
  if (codec_ && codec_->wants_squares() && !routes_.by_link())
    squares_ = Buffer<double>(slots * ((d + 127) / 128));
  upload_routes();
  net.count_state(h_.bytes() + estimate_.bytes() + sent_.bytes() + means_[0].bytes() +
                  means_[1].bytes() + means_[2].bytes());
  net.add(this);
}

DeviceMirror::~DeviceMirror() {
  net_.queue().finish_quietly();  // recorded work reads our rows
  net_.remove(this);
}

Watch DeviceMirror::watch() {
  fresh_ = true;
  return {{const_cast<float*>(watched_), watched_stride_},
          h_.view(),
          squares_.data(),
          squares_.size() / h_.rows()};
}

void DeviceMirror::upload_routes() {
  std::vector<Message> all;
  for (const auto& m : routes_.messages())
    all.push_back({static_cast<std::uint32_t>(m.row), static_cast<std::uint32_t>(m.slot),
                   static_cast<std::uint32_t>(net_.placement().agent(m.row)),
                   channel_ + (m.to < 0 ? 0u : 64u * (static_cast<std::uint32_t>(m.to) + 1))});
  if (!all.empty()) messages_.upload(all);
  mixing_.upload(routes_.mixing());
}

void DeviceMirror::start_at_common(const DeviceField& v) {
  fresh_ = false;
  net_.queue().join();
  net_.queue().launch(copy_common, every_coordinate(h_), h_.view(), v.view(), v.cols());
  if (host_) {
    net_.queue().finish();
    h_.download(host_->rows());
    host_->resumed();
  }
  update_means();
}

void DeviceMirror::start_at(const DeviceField& v) {
  exchange(v, {.raw = true, .lossless = true});
  receive();
}

void DeviceMirror::send(const DeviceField& v, float gain) {
  exchange(v, {.gain = gain});
}

void DeviceMirror::send_raw(const DeviceField& v) {
  exchange(v, {.raw = true});
}

void DeviceMirror::send_moved(const DeviceField& v, float least, float gain) {
  exchange(v, {.gain = gain, .least = least});
}

void DeviceMirror::receive() {
  net_.queue().join();
  in_flight_ = false;
}

bool DeviceMirror::changes(const float* rows) const {
  const auto is = [&](const DeviceField& f) { return f.view().data == rows; };
  return in_flight_ && (is(h_) || is(estimate_) || is(sent_));
}

void DeviceMirror::exchange(const DeviceField& v, const Call& call) {
  if (std::exchange(in_flight_, true))
    throw std::logic_error("Mirror: a second send before receive");
  if (host_) return exchange_on_host(v, call);
  Queue& queue = net_.queue();
  queue.join();
  const Surroundings<float>& s = net_.surroundings();
  if (routes_.by_link()) {  // the links differ from the last round's
    queue.finish();
    routes_.at(net_.round());
    upload_routes();
  }
  const auto count = static_cast<std::uint32_t>(routes_.messages().size());
  if (call.least && count > 0)
    queue.launch(find_unmoved, Grid{.blocks = dim3(count), .threads = dim3(row_sum_threads)},
                 v.view(), h_.view(), messages_.data(), v.cols(), *call.least, net_.trouble(),
                 skipped_.data(), ThisRound{});
  Exchange e{};
  e.v = v.view();
  e.h = h_.view();
  e.estimate = estimate_.view();
  e.sent = sent_.view();
  e.messages = messages_.data();
  e.skipped = call.least ? skipped_.data() : nullptr;
  e.counters = counters_.data();
  e.trouble = net_.trouble();
  e.seed = s.seed;
  e.d = v.cols();
  e.noise_scale = s.channel_noise.scale;
  e.count = count;
  e.gain = call.gain;
  e.raw = call.raw;
  e.noise_kind = s.channel_noise.any() ? static_cast<std::uint32_t>(s.channel_noise.kind) : 0;
  e.flag_bits = call.least ? 1 : 0;
  const bool difference = !call.raw && !call.lossless;
  if (fresh_ && difference && watched_ == v.view().data) {
    e.squares = squares_.data();
    e.squares_stride = squares_.size() / h_.rows();
  }
  if (difference && squares_.size() > 0) {  // likely to be sent again
    watched_ = v.view().data;
    watched_stride_ = v.view().stride;
  }
  fresh_ = false;
  if (routes_.by_link())  // slots without a message too
    queue.launch(stay_as_they_are, every_coordinate(h_), h_.view(), estimate_.view(), sent_.view(),
                 h_.cols());
  if (count > 0) {
    queue.begin_aside();  // a gradient may run beside it, and nothing else (CudaNetwork)
    (call.lossless ? lossless_ : codec_)->exchange(queue, e);
    queue.end_aside();
    net_.sending(v.view().data);
  }
  update_means();
}

// Exchanges through the CPU's mirror; rows are copied to the host and back.
void DeviceMirror::exchange_on_host(const DeviceField& v, const Call& call) {
  net_.queue().host([&] {
    v.download(host_v_);
    if (call.lossless)
      host_->start_at(host_v_);
    else if (call.least)
      host_->send_moved(host_v_, *call.least, call.gain);
    else if (call.raw)
      host_->send_raw(host_v_);
    else
      host_->send(host_v_, call.gain);
    host_->receive();
    h_.upload(host_->rows());
    if (!estimate_.empty()) estimate_.upload(host_->estimates());
    if (!sent_.empty()) sent_.upload(host_->sent_rows());
    routes_.at(net_.round());
    if (routes_.by_link()) upload_routes();
  });
  update_means();
}

void DeviceMirror::update_means() {
  if (!routes_.by_link()) return;
  const DeviceField* rows[] = {&h_, &estimate_, &sent_};
  for (std::size_t i = 0; i < 3; ++i)
    if (!means_[i].empty())
      net_.map(Assign{}, means_[i],
               Mixture{rows[i]->view(), mean_.begin.data(), mean_.terms.data()});
}

void DeviceMirror::restore(const Field<float>& rows) {
  fresh_ = false;
  h_.upload(rows);
  routes_.at(net_.round());
  upload_routes();
  if (host_) {
    host_->rows() = rows;
    host_->resumed();
  }
  update_means();
}

void DeviceMirror::give_counts(Ledger& ledger) {
  const std::vector<Counters> counted = counters_.download();
  for (std::size_t slot = 0; slot < counted.size(); ++slot) {
    const auto& [row, links] = senders_[slot];
    Ledger::Agent& a = ledger.agents[row];
    a.saturated += counted[slot].saturated;
    if (links.empty()) continue;  // a payload that goes to nobody is free
    a.messages += counted[slot].messages;
    a.payload_bytes += counted[slot].bytes;
    a.paper_bits += counted[slot].paper_bits;
    for (const std::size_t link : links) {
      a.link_messages[link] += counted[slot].messages;
      a.link_bytes[link] += counted[slot].bytes;
    }
  }
  counters_.upload(std::vector<Counters>(counted.size()));
}

const DeviceField& DeviceMirror::mean_of(const DeviceField& rows) const {
  if (!routes_.by_link()) return rows;
  return means_[&rows == &h_ ? 0 : &rows == &estimate_ ? 1 : 2];
}

Mixture DeviceMirror::mixture(const DeviceField& rows) const {
  if (in_flight_) throw std::logic_error("Mirror: a mixture was read before receive");
  return {rows.view(), mixing_.begin.data(), mixing_.terms.data()};
}

const DeviceField& DeviceMirror::kept(const DeviceField& rows) const {
  if (rows.empty()) throw std::logic_error("Mirror: estimate or sent is not set in MirrorOptions");
  return rows;
}

}  // namespace ticopd::cuda
