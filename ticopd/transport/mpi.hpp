#pragma once

// MPI's C++ bindings were removed from the standard, and their headers cause warnings.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "ticopd/transport/peer.hpp"
#include "ticopd/transport/processes.hpp"

namespace ticopd {

// Frames over MPI. No call blocks inside MPI: requests are posted and then tested. The thread that
// waits tests them; while all others compute, a progress thread does, because MPI moves large
// messages only while someone calls it. That is how an exchange overlaps a gradient. Every wait has
// a deadline and checks for lost ranks.
//
// MPI itself may still hang: if a peer is killed in the middle of a write to shared memory, Open
// MPI's reader spins for ever. So the two threads watch each other: only one is inside MPI at a
// time, and the other notices when it does not come back.
//
// A message is first matched, which gives its length, and then received into memory of that length.
// Posting a buffer of the expected length would be simpler and save MPI a copy; but Open MPI 4.1
// writes a longer message past the end of the buffer before it reports MPI_ERR_TRUNCATE.
class MpiTransport final : public Processes {
 public:
  // MPI must have been initialised; with less than MPI_THREAD_SERIALIZED messages move only while a
  // thread waits. Every rank of `comm` must make one. `ends_mpi`: it calls MPI_Finalize at the end,
  // if the run succeeded or all ranks could part.
  explicit MpiTransport(MPI_Comm comm, double deadline_s = default_deadline_s, bool ends_mpi = false);
  ~MpiTransport() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void expect(int from, std::uint32_t channel, std::size_t most) override;
  void abandon(int exit_code, const std::string& why) override;
  void ask_to_stop() override;
  bool asked_to_stop() override;

  std::string kind() const override { return "mpi"; }
  std::string library() const override;
  std::string host(int rank) const override {
    return peers_.at(static_cast<std::size_t>(rank)).name();
  }
  int sharers() const override;
  bool progresses() const override { return moves_.load(); }
  void set_deadline(double seconds) override { deadline_.store(seconds); }
  void close() override;
  std::string lost() const override;
  Parting part() override;
  void let_go() override;

 protected:
  void do_send(int to, std::uint32_t channel, Bytes frame) override;
  Arrival do_receive(int from, std::uint32_t channel, std::size_t most) override;

 private:
  static constexpr int tag_farewell = 0x7000, tag_let_go = 0x7001, tag_stop = 0x7002;
  static constexpr double look_every_s = 0.1;  // for lost ranks
  static constexpr double parting_s = 2;       // a rank in a long gradient may miss the end

  // One request under way, with the memory that MPI reads or writes meanwhile.
  struct Operation {
    Bytes bytes;
    std::size_t most = any_length;
    bool matched = false;  // a receive: its message is known
    bool done = false;
    std::size_t too_long = 0;  // the length of a message that was refused
    int error = MPI_SUCCESS;
    double at = 0;  // when it was seen to be done
  };
  using Pending = std::shared_ptr<Operation>;
  // The lock, and since when the caller may be inside MPI.
  class Inside {
   public:
    explicit Inside(MpiTransport& transport);  // Interrupted if the other thread hangs in MPI
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    MpiTransport& transport_;
  };
  struct Farewell {
    int from;
    int exit_code;
    bool own;  // not only passed on
    std::string why;
  };

  void post_send(int to, int tag, Bytes bytes);
  Pending post_receive(int from, int tag, std::size_t most);
  bool match(Operation& operation, int from, int tag, MPI_Request& request);
  void match_expected();
  void under_way(MPI_Request request, Pending operation);
  void test_requests();
  void hear_farewells();
  bool has_parted(int rank) const;
  bool all_have_parted() const;
  void flush();
  void finalize();
  void wait(int from, const std::function<bool()>& ready);
  bool wait_up_to(double seconds, const std::function<bool()>& ready);
  void wake_progress();
  void progress();
  void watch();
  void end_progress();
  bool is_gone(int rank) const;
  void release();

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::atomic<double> deadline_;
  bool ends_mpi_;
  std::vector<Peer> peers_;

  std::timed_mutex mutex_;  // one thread at a time is in MPI, and in what follows
  std::vector<MPI_Request> requests_;
  std::vector<Pending> operations_;                              // of requests_
  std::map<std::pair<int, int>, std::deque<Pending>> expected_;  // by rank and tag
  std::size_t unmatched_ = 0;                                    // of expected_
  std::vector<Farewell> farewells_;
  bool was_told_ = false;  // why we give up: by a farewell

  std::atomic<int> waiting_ = 0;          // threads that wait, and test the requests themselves
  std::atomic<double> inside_since_ = 0;  // the caller's thread; 0: it is not in MPI
  std::atomic<bool> moves_ = false;       // the other thread may call MPI
  std::atomic<bool> hung_ = false;        // a thread did not come back from MPI
  std::exception_ptr trouble_;            // what the other thread met
  std::mutex idle_mutex_;
  std::condition_variable work_;
  bool work_to_do_ = false;            // under idle_mutex_
  std::atomic<bool> leaving_ = false;  // peers that end now are not lost
  std::atomic<bool> end_ = false;
  std::atomic<bool> ended_ = false;
  std::thread progress_;
};

}  // namespace ticopd
