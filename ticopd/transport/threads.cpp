#include "ticopd/transport/threads.hpp"

#include <utility>

#include "ticopd/system/clock.hpp"

namespace ticopd {

class ThreadRanks::Rank final : public Transport {
 public:
  Rank(ThreadRanks& all, int rank, int size) : all_(all), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void abandon(int, const std::string& why) override { all_.abandon(rank_, why); }

 protected:
  void do_send(int to, std::uint32_t channel, Bytes frame) override {
    {
      const std::lock_guard lock(all_.mutex_);
      all_.boxes_[{rank_, to, channel}].push_back({std::move(frame), seconds_now()});
    }
    all_.arrived_.notify_all();
  }

  Arrival do_receive(int from, std::uint32_t channel, std::size_t) override {
    std::unique_lock lock(all_.mutex_);
    std::deque<Letter>& box = all_.boxes_[{from, rank_, channel}];
    const auto ready = [&] { return !box.empty() || !all_.lost_.empty(); };
    if (!all_.arrived_.wait_for(lock, all_.deadline_, ready))
      throw Interrupted("rank " + std::to_string(rank_) +
                        " waited past network.deadline_s for rank " + std::to_string(from) +
                        in_round());
    if (box.empty()) throw Interrupted(all_.lost_);
    Letter letter = std::move(box.front());
    box.pop_front();
    return {std::move(letter.frame), letter.at};
  }

 private:
  ThreadRanks& all_;
  int rank_;
  int size_;
};

ThreadRanks::ThreadRanks(int ranks, double deadline_s) : deadline_(deadline_s) {
  for (int r = 0; r < ranks; ++r) ranks_.push_back(std::make_unique<Rank>(*this, r, ranks));
}

void ThreadRanks::abandon(int r, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (lost_.empty()) lost_ = "rank " + std::to_string(r) + " is gone: " + why;
  }
  arrived_.notify_all();
}

}  // namespace ticopd
