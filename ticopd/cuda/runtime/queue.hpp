#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "ticopd/cuda/runtime/memory.hpp"

namespace ticopd::cuda {

// The round number, for kernels. A recorded kernel runs in many rounds, so it reads the number when
// it runs, not when it is recorded.
struct Round {
  const std::uint32_t* base;
  std::uint32_t offset;
  __device__ std::uint32_t number() const { return *base + offset; }
};

// Stands for Round among the arguments of a launch.
struct ThisRound {};

// The stream and the round in which a recorded item is enqueued.
struct Moment {
  cudaStream_t stream;
  Round round;
  bool early = true;  // false: the item depends on more than the kernel before it
};

// How a kernel is launched.
struct Grid {
  dim3 blocks, threads;
  std::size_t shared = 0;
  // The kernel may be launched while the one before it ends. It must call wait_for_kernel_before()
  // first.
  bool early = false;
  // Few blocks, soon done, in nobody's way. Aside, such a kernel may run behind kernels that it
  // does not depend on. So it calls wait_for_kernel_before() last.
  bool small = false;
};

#ifdef __CUDACC__
// Waits until the kernel before has ended and its writes can be seen.
__device__ __forceinline__ void wait_for_kernel_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
// Blocks of the next kernel may start, and wait, as soon as all of ours have started. For kernels
// that leave room beside them: beside a large kernel the waiting blocks would be in the way.
__device__ __forceinline__ void let_next_kernel_begin() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#endif

// Records what a round does on the device, while the algorithm's step runs on the host. A round
// that repeats an earlier one (the same kernels with the same arguments) is replayed as a CUDA
// graph, and many such rounds as one graph. So an algorithm's source knows nothing of graphs, and
// may still do something else in some rounds.
class Queue {
 public:
  using Enqueue = std::function<void(const Moment&)>;

  Queue();
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Two items with equal keys must do the same.
  void add(std::string key, Enqueue enqueue, bool small = false);

  // Arguments are kept and compared as bytes, so they must not have padding.
  template <class... P, class... A>
  void launch(void (*kernel)(P...), const Grid& grid, const A&... args);

  // Items added between these two may run beside items added after them, until `join`. An exchange
  // runs in this way beside the gradient between send and receive.
  void begin_aside() {
    join();
    aside_ = true;
  }
  void end_aside() { aside_ = false; }
  // A good place for items aside to begin, if they have not: after the kernels before this, in the
  // room that the kernels after it leave. It is a hint, without any effect on results. The kernel
  // before this must let the next one begin only after it has waited for those before it.
  void room_aside();
  void join();  // later items wait for those aside; no-op if there are none

  // Runs work on the host. All items before it are done by then, and none after it has begun.
  void host(std::function<void()> work);

  // Items added from now on belong to this round. Waits while the device is some sixty rounds
  // behind: otherwise stopping a run, or reading a clock, would wait for all of them.
  void begin_round(std::uint32_t round);
  void finish();                   // all is done when it returns
  void finish_quietly() noexcept;  // for destructors: reading results reports errors
  cudaStream_t stream() const { return stream_; }

  // Copies to pinned memory, after what was launched so far: all but at most the last sixteen
  // rounds. The host goes on, and calls wait_for_copy before it reads.
  void copy_to_host(void* to, const void* from, std::size_t bytes);
  void wait_for_copy();

  std::uint64_t graphs() const { return graphs_made_; }  // for tests

 private:
  enum class Kind { main, aside, join, room };
  struct Item {
    Kind kind;
    std::string key;
    Enqueue enqueue;  // of main and aside
    bool small = false;
  };
  struct Recorded {
    std::uint32_t round = 0;
    std::vector<Item> items;
    std::string key;  // of all items
  };
  struct Graph {
    cudaGraphExec_t exec = nullptr;
    std::uint32_t seen = 0;
  };
  static constexpr std::size_t most_ahead = 4;  // flushes

  void flush();
  void keep_near();
  void forget_graphs();
  void run(std::size_t first, std::size_t count);
  void enqueue(cudaStream_t stream, std::size_t first, std::size_t count);
  void enqueue_round(cudaStream_t stream, const Recorded& round, const Round& number, bool& early);
  static bool waits_for_room(const std::vector<Item>& items, std::size_t first, std::size_t last);
  void set_round(std::uint32_t round);
  Graph& graph_of(const std::string& key);

  cudaStream_t stream_;  // of all queues: see stream_of_all
  cudaStream_t capture_ = nullptr, side_ = nullptr;
  cudaEvent_t forked_ = nullptr, joined_ = nullptr, copied_ = nullptr;
  cudaEvent_t flushed_[most_ahead] = {};  // of the last flushes, in turn
  std::size_t flushes_ = 0;
  int long_waits_ = 0;   // in a row
  std::size_t at_once_;  // rounds of a flush, at most
  bool aside_ = false, any_aside_ = false;
  Buffer<std::uint32_t> round_;     // on the device: the number of the round before the next
  std::uint32_t device_round_ = 0;  // its value when everything enqueued is done
  std::vector<Recorded> pending_;
  std::unordered_map<std::string, Graph> known_;
  std::uint64_t graphs_made_ = 0;
};

namespace detail {

// Replaces ThisRound among the arguments by the round of the launch.
template <class A>
auto with_round(const A& arg, const Moment&) {
  return arg;
}
inline Round with_round(const ThisRound&, const Moment& moment) {
  return moment.round;
}

// Appends an argument to the key by which equal launches are found.
template <class A>
void append_bytes(std::string& key, const A& arg) {
  if constexpr (!std::is_empty_v<A>) {
    static_assert(std::is_trivially_copyable_v<A>);
    key.append(reinterpret_cast<const char*>(&arg), sizeof arg);
  }
}

}  // namespace detail

template <class... P, class... A>
void Queue::launch(void (*kernel)(P...), const Grid& grid, const A&... args) {
  std::string key;
  detail::append_bytes(key, reinterpret_cast<std::uintptr_t>(kernel));
  for (const dim3& d : {grid.blocks, grid.threads}) {
    detail::append_bytes(key, d.x);
    detail::append_bytes(key, d.y);
    detail::append_bytes(key, d.z);
  }
  detail::append_bytes(key, grid.shared);
  (detail::append_bytes(key, args), ...);
  add(
      std::move(key),
      [kernel, grid, args...](const Moment& moment) {
        cudaLaunchAttribute early{};
        early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        early.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = grid.blocks;
        config.blockDim = grid.threads;
        config.dynamicSmemBytes = grid.shared;
        config.stream = moment.stream;
        config.attrs = &early;
        config.numAttrs = grid.early && moment.early ? 1 : 0;
        check(cudaLaunchKernelEx(&config, kernel, P(detail::with_round(args, moment))...),
              "launch");
      },
      grid.small);
}

}  // namespace ticopd::cuda
