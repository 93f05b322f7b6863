#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "ticopd/cuda/runtime/queue.hpp"
#include "ticopd/error.hpp"

namespace ticopd::cuda {
namespace {

// This many equal rounds are one graph: each launch costs the host time, and the device a gap.
constexpr std::size_t rounds_at_once = 16;
// Rounds go one by one if this many take longer than that: nobody could stop a run in between.
constexpr std::chrono::milliseconds longest_flush{250};
// At most this many kinds of rounds are remembered. If every round differs from all before it (a
// step size that falls), no graph is made, because the first round of its kind is launched kernel
// by kernel. Rounds that repeat after that have graphs again.
constexpr std::size_t most_known = 256;
// At most this many kernels wait for room aside: so few end soon beside others.
constexpr std::size_t most_that_wait = 2;

__global__ void store_round(std::uint32_t* round, std::uint32_t value) {
  *round = value;
}
__global__ void advance_round(std::uint32_t* round, std::uint32_t by) {
  *round += by;
}

// One stream per device for all queues of the process, never destroyed. Some kernels have blocks
// that wait for each other (fused/products.cu): two of these kernels must not share the device.
cudaStream_t stream_of_all() {
  static std::mutex mutex;
  static std::map<int, cudaStream_t> streams;
  const std::lock_guard lock(mutex);
  int device = 0;
  check(cudaGetDevice(&device), "make a stream");
  if (const auto found = streams.find(device); found != streams.end()) return found->second;
  cudaStream_t made = nullptr;
  check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "make a stream");
  return streams[device] = made;
}

}  // namespace

Queue::Queue() : stream_(stream_of_all()), at_once_(rounds_at_once), round_(1) {
  for (cudaStream_t* stream : {&capture_, &side_})
    check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "make a stream");
  const auto make = [](cudaEvent_t& event, unsigned flags) {
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | flags), "make an event");
  };
  for (cudaEvent_t* event : {&forked_, &joined_}) make(*event, 0);
  make(copied_, cudaEventBlockingSync);  // the host sleeps while it waits
  for (cudaEvent_t& event : flushed_) make(event, cudaEventBlockingSync);
  pending_.emplace_back();
}

Queue::~Queue() {
  forget_graphs();
  for (cudaEvent_t event : {forked_, joined_, copied_}) cudaEventDestroy(event);
  for (cudaEvent_t event : flushed_) cudaEventDestroy(event);
  for (cudaStream_t stream : {side_, capture_}) cudaStreamDestroy(stream);
}

void Queue::add(std::string key, Enqueue enqueue, bool small) {
  any_aside_ = any_aside_ || aside_;
  pending_.back().items.push_back({aside_ ? Kind::aside : Kind::main,
                                   (aside_ ? "a" : "m") + std::move(key), std::move(enqueue),
                                   small});
}

void Queue::room_aside() {
  if (any_aside_ && !aside_) pending_.back().items.push_back({Kind::room, "r", {}});
}

void Queue::join() {
  if (!any_aside_) return;
  any_aside_ = false;
  pending_.back().items.push_back({Kind::join, "j", {}});
}

void Queue::host(std::function<void()> work) {
  finish();
  work();
}

void Queue::begin_round(std::uint32_t round) {
  join();
  const bool next = round == pending_.back().round + 1;
  if (!next || pending_.size() >= at_once_) flush();
  if (pending_.back().items.empty() && pending_.size() == 1)
    pending_.back().round = round;
  else
    pending_.push_back({.round = round, .items = {}, .key = {}});
}

void Queue::finish() {
  flush();
  const auto begin = std::chrono::steady_clock::now();
  check(cudaStreamSynchronize(stream_), "finish a round");
  // If results are read often, the host waits here.
  if (std::chrono::steady_clock::now() - begin > longest_flush && ++long_waits_ == 2) at_once_ = 1;
}

void Queue::finish_quietly() noexcept {
  try {
    finish();
  } catch (const std::exception&) {
  }
}

// Runs what is pending: as one graph if it is a full set of rounds that repeat, else round by
// round.
void Queue::flush() {
  join();
  const std::uint32_t last = pending_.back().round;
  for (Recorded& round : pending_) {
    round.key.clear();
    for (const Item& item : round.items) {
      round.key += item.key;
      round.key += '|';
    }
  }
  bool alike = pending_.size() == at_once_;
  for (const Recorded& round : pending_) alike = alike && round.key == pending_[0].key;
  // Rounds that alternate (two fields that swap places) repeat in pairs.
  bool pairs = pending_.size() == at_once_;
  for (std::size_t i = 2; i < pending_.size(); ++i)
    pairs = pairs && pending_[i].key == pending_[i - 2].key;
  // Nothing is run twice, even after an exception: its memory may be gone by then.
  const auto forget = [&] {
    pending_.clear();
    pending_.push_back({.round = last, .items = {}, .key = {}});
  };
  try {
    keep_near();
    if (alike || pairs)
      run(0, pending_.size());
    else
      for (std::size_t i = 0; i < pending_.size(); ++i) run(i, 1);
    check(cudaEventRecord(flushed_[flushes_++ % most_ahead], stream_), "launch a round");
  } catch (...) {
    forget();
    throw;
  }
  forget();
}

Queue::Graph& Queue::graph_of(const std::string& key) {
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  if (known_.size() >= most_known)  // first those without a graph
    std::erase_if(known_, [](const auto& known) { return known.second.exec == nullptr; });
  if (known_.size() >= most_known) forget_graphs();
  return known_[key];
}

void Queue::forget_graphs() {
  cudaStreamSynchronize(stream_);  // it may still run them; finish() reports its errors
  for (auto& [key, graph] : known_)
    if (graph.exec) cudaGraphExecDestroy(graph.exec);
  known_.clear();
}

// Waits for the flush of `most_ahead` flushes ago, whose event the next flush takes.
void Queue::keep_near() {
  const cudaEvent_t flushed = flushed_[flushes_ % most_ahead];
  if (cudaEventQuery(flushed) == cudaSuccess) return;
  (void)cudaGetLastError();  // "not ready" counts as an error: clear it
  const auto begin = std::chrono::steady_clock::now();
  check(cudaEventSynchronize(flushed), "finish a round");
  const bool slow = std::chrono::steady_clock::now() - begin > longest_flush;
  long_waits_ = slow ? long_waits_ + 1 : 0;
  if (long_waits_ == 2) at_once_ = 1;  // a single one may have another cause
}

void Queue::copy_to_host(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "copy");
  check(cudaEventRecord(copied_, stream_), "copy");
}

void Queue::wait_for_copy() {
  check(cudaEventSynchronize(copied_), "copy");
}

void Queue::run(std::size_t first, std::size_t count) {
  if (count == 1 && pending_[first].items.empty()) return;
  set_round(pending_[first].round);
  std::string key = std::to_string(count) + pending_[first].key;
  if (count > 1) key += "/" + pending_[first + 1].key;
  Graph& graph = graph_of(key);
  if (++graph.seen == 1) return enqueue(stream_, first, count);
  if (!graph.exec) {
    const std::lock_guard lock(device_mutex());
    cudaGraph_t captured = nullptr;
    check(cudaStreamBeginCapture(capture_, cudaStreamCaptureModeRelaxed), "capture a round");
    try {
      enqueue(capture_, first, count);
    } catch (...) {
      cudaStreamEndCapture(capture_, &captured);
      if (captured) cudaGraphDestroy(captured);
      throw;
    }
    check(cudaStreamEndCapture(capture_, &captured), "capture a round");
    const cudaError_t made = cudaGraphInstantiate(&graph.exec, captured, 0);
    cudaGraphDestroy(captured);
    check(made, "make a graph of a round");
    ++graphs_made_;
    device_round_ -= static_cast<std::uint32_t>(count);  // captured, not run
  }
  check(cudaGraphLaunch(graph.exec, stream_), "launch a round");
  device_round_ += static_cast<std::uint32_t>(count);
}

// The device counts rounds itself, because a graph has no arguments. Its counter is the number of
// the round before the next one.
void Queue::set_round(std::uint32_t round) {
  if (device_round_ + 1 == round) return;
  device_round_ = round - 1;
  store_round<<<1, 1, 0, stream_>>>(round_.data(), device_round_);
  check(cudaGetLastError(), "launch");
}

void Queue::enqueue(cudaStream_t stream, std::size_t first, std::size_t count) {
  bool early = true;  // of the next kernel in the main stream
  for (std::size_t i = 0; i < count; ++i)
    enqueue_round(stream, pending_[first + i], {round_.data(), static_cast<std::uint32_t>(i + 1)},
                  early);
  advance_round<<<1, 1, 0, stream>>>(round_.data(), static_cast<std::uint32_t>(count));
  check(cudaGetLastError(), "launch");
  device_round_ += static_cast<std::uint32_t>(count);
}

void Queue::enqueue_round(cudaStream_t stream, const Recorded& round, const Round& number,
                          bool& early) {
  const std::vector<Item>& items = round.items;
  std::size_t aside = 0, aside_end = 0;  // items aside that have not begun
  bool forked = false;
  const auto begin_aside = [&] {
    if (aside == aside_end) return;
    forked = true;
    check(cudaEventRecord(forked_, stream), "fork");
    check(cudaStreamWaitEvent(side_, forked_), "fork");
    for (std::size_t i = aside; i < aside_end; ++i) items[i].enqueue({side_, number, i > aside});
    aside = aside_end;
  };
  for (std::size_t i = 0; i < items.size(); ++i) switch (items[i].kind) {
      case Kind::aside:
        aside = i;
        while (items[i].kind == Kind::aside) ++i;  // a join follows, if nothing else does
        aside_end = i--;
        if (!waits_for_room(items, aside, aside_end)) begin_aside();
        break;
      case Kind::main:
        items[i].enqueue({stream, number, std::exchange(early, true)});
        break;
      case Kind::room:
        // Small kernels go into the main stream: a second stream takes microseconds to begin, and
        // by then there is no room.
        for (; aside < aside_end && items[aside].small; ++aside)
          items[aside].enqueue({stream, number, std::exchange(early, true)});
        begin_aside();
        break;
      case Kind::join:
        begin_aside();
        early = false;
        if (!forked) break;  // all of it was small and is in the main stream
        forked = false;
        check(cudaEventRecord(joined_, side_), "join");
        check(cudaStreamWaitEvent(stream, joined_), "join");
    }
}

// True if items [first, last), which are aside, should begin where there is room for them: such a
// place comes before the join, and they are few. Many items need all the time there is.
bool Queue::waits_for_room(const std::vector<Item>& items, std::size_t first, std::size_t last) {
  if (last - first > most_that_wait) return false;
  while (items[last].kind == Kind::main) ++last;
  return items[last].kind == Kind::room;
}

}  // namespace ticopd::cuda
