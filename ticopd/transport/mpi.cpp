#include "ticopd/transport/mpi.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <ctime>

#include "ticopd/system/clock.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {
namespace {

// MPI promises tags up to 32767; the run loop's channels lie above that.
int tag_of(std::uint32_t channel) {
  constexpr std::uint32_t mirrors = 0x4000;
  return static_cast<int>(channel < mirrors ? channel : mirrors + (channel & 0xff));
}

std::string text_of(int error) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

void check(int error, const char* what) {
  if (error != MPI_SUCCESS)
    throw Interrupted(std::string("MPI failed to ") + what + ": " + text_of(error));
}

void pause(int turn) {
  if (turn < 100) {
    sched_yield();
    return;
  }
  const timespec nap{0, turn < 1000 ? 10'000 : 100'000};
  nanosleep(&nap, nullptr);
}

}  // namespace

MpiTransport::MpiTransport(MPI_Comm comm, double deadline_s, bool ends_mpi)
    : deadline_(deadline_s), ends_mpi_(ends_mpi) {
  check(MPI_Comm_dup(comm, &comm_), "copy the communicator");
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  const Peer me = Peer::here();
  peers_ = {me};  // until all are known, none is watched
  peers_ = all_gather_values<Peer>(*this, channel_control, std::span(&me, 1));
  traffic() = {};
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  moves_ = level >= MPI_THREAD_SERIALIZED;
  if (size_ > 1) progress_ = std::thread([this] { progress(); });
}

MpiTransport::~MpiTransport() {
  end_progress();
  try {
    release();
  } catch (const Interrupted&) {  // MPI hangs, and keeps what it has
  }
}

// MPI may still write to the memory of unfinished requests, and no call cancels a matched message.
// So that memory is never freed.
void MpiTransport::release() {
  const Inside inside(*this);
  for (const Pending& operation : operations_) new Pending(operation);
  requests_.clear();
  operations_.clear();
  comm_ = MPI_COMM_NULL;
}

void MpiTransport::under_way(MPI_Request request, Pending operation) {
  requests_.push_back(request);
  operations_.push_back(std::move(operation));
  wake_progress();
}

void MpiTransport::post_send(int to, int tag, Bytes bytes) {
  if (bytes.size() > INT_MAX)
    throw FormatError("a frame of " + std::to_string(bytes.size()) +
                      " bytes: MPI carries less than 2 GiB at once");
  auto operation = std::make_shared<Operation>();
  operation->bytes = std::move(bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  const Inside inside(*this);
  check(MPI_Isend(operation->bytes.data(), static_cast<int>(operation->bytes.size()), MPI_BYTE, to,
                  tag, comm_, &request),
        "send");
  under_way(request, std::move(operation));
}

MpiTransport::Pending MpiTransport::post_receive(int from, int tag, std::size_t most) {
  auto operation = std::make_shared<Operation>();
  operation->most = most;
  const Inside inside(*this);
  expected_[{from, tag}].push_back(operation);
  ++unmatched_;
  match_expected();
  wake_progress();
  return operation;
}

// False if no message has arrived yet.
bool MpiTransport::match(Operation& operation, int from, int tag, MPI_Request& request) {
  int there = 0, length = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check(MPI_Improbe(from, tag, comm_, &there, &message, &status), "look for messages");
  if (there == 0) return false;
  MPI_Get_count(&status, MPI_BYTE, &length);
  if (static_cast<std::size_t>(length) > operation.most) {
    operation.too_long = static_cast<std::size_t>(length);
    operation.matched = operation.done = true;
    return true;
  }
  operation.bytes.resize(static_cast<std::size_t>(length));
  check(MPI_Imrecv(operation.bytes.data(), length, MPI_BYTE, &message, &request), "receive");
  operation.matched = true;
  return true;
}

// In the order in which they were expected, which is the order in which the peer sends.
void MpiTransport::match_expected() {
  if (unmatched_ == 0) return;
  for (auto& [who, queue] : expected_)
    for (const Pending& operation : queue) {
      if (operation->matched) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      if (!match(*operation, who.first, who.second, request)) break;
      --unmatched_;
      if (!operation->done) under_way(request, operation);
    }
}

void MpiTransport::test_requests() {
  match_expected();
  if (requests_.empty()) return;
  const int count = static_cast<int>(requests_.size());
  int done = 0;
  std::vector<int> which(requests_.size());
  std::vector<MPI_Status> states(requests_.size());
  const int error = MPI_Testsome(count, requests_.data(), &done, which.data(), states.data());
  if (error != MPI_ERR_IN_STATUS) check(error, "test requests");
  if (done == MPI_UNDEFINED || done == 0) return;
  for (int i = 0; i < done; ++i) {
    const MPI_Status& status = states[static_cast<std::size_t>(i)];
    Operation& operation =
        *operations_[static_cast<std::size_t>(which[static_cast<std::size_t>(i)])];
    operation.error = error == MPI_ERR_IN_STATUS ? status.MPI_ERROR : MPI_SUCCESS;
    operation.done = true;
    operation.at = seconds_now();
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (operations_[i]->done) continue;
    requests_[kept] = requests_[i];
    operations_[kept++] = operations_[i];
  }
  requests_.resize(kept);
  operations_.resize(kept);
}

void MpiTransport::do_send(int to, std::uint32_t channel, Bytes frame) {
  post_send(to, tag_of(channel), std::move(frame));
}

void MpiTransport::expect(int from, std::uint32_t channel, std::size_t most) {
  post_receive(from, tag_of(channel), most);
}

Transport::Arrival MpiTransport::do_receive(int from, std::uint32_t channel, std::size_t most) {
  const std::pair<int, int> who(from, tag_of(channel));
  Pending operation;
  {
    const Inside inside(*this);
    if (const auto& queue = expected_[who]; !queue.empty()) operation = queue.front();
  }
  if (!operation) operation = post_receive(who.first, who.second, most);
  wait(from, [&] { return operation->done; });
  {
    const Inside inside(*this);
    expected_[who].pop_front();
  }
  if (operation->too_long > 0) refuse_length(from, operation->too_long, operation->most);
  check(operation->error, "receive");
  return {std::move(operation->bytes), operation->at};
}

bool MpiTransport::is_gone(int rank) const {
  const auto at = static_cast<std::size_t>(rank);
  if (peers_.size() != static_cast<std::size_t>(size_) || rank == rank_) return false;
  return peers_[at].is_gone(peers_[static_cast<std::size_t>(rank_)]);
}

std::string MpiTransport::lost() const {
  for (int r = 0; r < size_; ++r)
    if (is_gone(r))
      return "rank " + std::to_string(r) + ": its process on " + host(r) + " has ended";
  return {};
}

// Waits until `ready`, which is called with the lock held.
void MpiTransport::wait(int from, const std::function<bool()>& ready) {
  struct Waiting {
    std::atomic<int>& count;
    explicit Waiting(std::atomic<int>& c) : count(c) { ++count; }
    ~Waiting() { --count; }
  } const mark(waiting_);
  const double begin = seconds_now();
  double look = begin + look_every_s;
  for (int turn = 0;; ++turn) {
    {
      const Inside inside(*this);
      if (trouble_) std::rethrow_exception(trouble_);
      test_requests();
      if (ready()) return;
    }
    const double now = seconds_now();
    if (now > look) {
      hear_farewells();
      if (!farewells_.empty()) {
        was_told_ = true;
        const Farewell& first = farewells_.front();
        throw_as(first.exit_code, first.why);
      }
      if (const std::string who = lost(); !who.empty())
        throw Interrupted("rank " + std::to_string(rank_) + " lost " + who + in_round());
      look = now + look_every_s;
    }
    if (now - begin > deadline_.load())
      throw Interrupted("rank " + std::to_string(rank_) +
                        " waited past network.deadline_s for rank " + std::to_string(from) +
                        (peers_.size() > 1 ? " on " + host(from) : "") + in_round());
    pause(turn);
  }
}

bool MpiTransport::wait_up_to(double seconds, const std::function<bool()>& ready) {
  const double begin = seconds_now();
  for (int turn = 0;; ++turn) {
    {
      const Inside inside(*this);
      test_requests();
    }
    if (ready()) return true;
    if (seconds_now() - begin > seconds) return false;
    pause(turn);
  }
}

MpiTransport::Inside::Inside(MpiTransport& transport) : transport_(transport) {
  const double begin = seconds_now();
  while (!transport.mutex_.try_lock_for(std::chrono::milliseconds(100))) {
    const std::string who = transport.lost();
    const bool in_time = seconds_now() - begin < transport.deadline_.load();
    if (who.empty() && in_time && !transport.hung_) continue;
    transport.hung_ = true;
    throw Interrupted("rank " + std::to_string(transport.rank_) + " lost " +
                      (who.empty() ? "its peers: MPI hangs" : who) + transport.in_round());
  }
  transport.inside_since_.store(seconds_now());
}

MpiTransport::Inside::~Inside() {
  transport_.inside_since_.store(0);
  transport_.mutex_.unlock();
}

void MpiTransport::wake_progress() {
  {
    const std::lock_guard lock(idle_mutex_);
    work_to_do_ = true;
  }
  work_.notify_one();
}

// The progress thread: it moves messages while the others compute. It wakes every tenth of a
// millisecond, which is short compared with the exchange of a model and long enough to cost almost
// no processor time. It waits for the lock with a limit, and for work without the lock, so it can
// always watch the other thread.
void MpiTransport::progress() {
  while (!end_) {
    {
      std::unique_lock idle(idle_mutex_);
      work_.wait_for(idle, std::chrono::milliseconds(100), [this] { return end_ || work_to_do_; });
    }
    std::unique_lock lock(mutex_, std::defer_lock);
    if (!lock.try_lock_for(std::chrono::milliseconds(100))) {
      watch();
      continue;
    }
    const bool moves = moves_ && !end_ && waiting_.load() == 0 && !trouble_;
    try {
      if (moves) test_requests();
    } catch (const std::exception&) {  // the caller finds it when it waits
      trouble_ = std::current_exception();
    }
    {
      const std::lock_guard idle(idle_mutex_);
      work_to_do_ = !requests_.empty() || unmatched_ > 0;
    }
    lock.unlock();
    const timespec nap{0, 100'000};
    nanosleep(&nap, nullptr);
  }
  ended_ = true;
}

// The caller has held the lock for too long: it hangs inside MPI, and no exception can get it out.
void MpiTransport::watch() {
  const double since = inside_since_.load(), now = seconds_now();
  if (since == 0 || now - since < 3 * look_every_s) return;
  const std::string who = leaving_ ? std::string() : lost();
  if (who.empty() && now - since < deadline_.load()) return;
  emergency("rank " + std::to_string(rank_) + " lost " +
            (who.empty() ? "its peers: MPI has hung past network.deadline_s" : who) + in_round());
}

void MpiTransport::end_progress() {
  end_ = true;
  work_.notify_all();
  if (!progress_.joinable()) return;
  const double begin = seconds_now();
  while (!ended_ && seconds_now() - begin < 1) std::this_thread::yield();
  if (ended_)
    progress_.join();
  else
    progress_.detach();  // it hangs in MPI, for ever
}

int MpiTransport::sharers() const {
  const Peer& me = peers_[static_cast<std::size_t>(rank_)];
  return static_cast<int>(std::count_if(peers_.begin(), peers_.end(),
                                        [&](const Peer& p) { return p.shares_cpus(me); }));
}

std::string MpiTransport::library() const {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string first(text, static_cast<std::size_t>(length));  // "MPICH Version:\t4.0.2\n..."
  first.resize(std::min(first.size(), first.find_first_of(",\n")));
  std::replace(first.begin(), first.end(), '\t', ' ');
  return first;
}

}  // namespace ticopd
