// Times rounds on two ranks and the same work without a rank boundary, on request.
//
//   mpirun -n 2 bench_ranks --folder DIR      bench_points fills DIR
//   mpirun -n 2 bench_ranks --ping BYTES
//
// The first form has these actions. `first_half`, `second_half`: five agents of the paper's problem
// on their own ring, on rank 0 alone. `apart`: both halves at once, one per rank, without messages
// between them. `together`: all ten agents on two ranks. `process`, `ranks`: ten agents whose
// gradients cost nothing, on rank 0 with two threads or on two ranks. The second form has `ping`, a
// message there and back by MPI alone. An answer is the time of several such rounds.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "bench/ask.hpp"
#include "bench/drift.hpp"
#include "bench/paper_problem.hpp"
#include "ticopd/transport/collective.hpp"
#include "ticopd/transport/mpi.hpp"

namespace {

using namespace ticopd;
using namespace ticopd::bench;
namespace fs = std::filesystem;

constexpr int paper_rounds = 5, drift_rounds = 20, pings = 50, checked_rounds = 2;
constexpr int half = agents / 2;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// Passes the lines that rank 0 reads to both ranks. They go through a pipe, not through MPI: other
// programs are timed between two lines, and a rank that waits in MPI would use a core.
class Words {
 public:
  Words() : rank_(world_rank()) {
    char folder[64] = "/tmp/ticopd-bench-XXXXXX";
    if (rank_ == 0)
      require(
          mkdtemp(folder) != nullptr && mkfifo((std::string(folder) + "/words").c_str(), 0600) == 0,
          "no pipe could be made in /tmp");
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    const fs::path pipe = fs::path(folder) / "words";
    if (rank_ > 0) {
      in_.open(pipe);  // each rank waits for the other to open its end
      return;
    }
    out_.open(pipe);
    fs::remove_all(folder);
  }

  bool next(std::string& word) {
    if (rank_ > 0) return static_cast<bool>(std::getline(in_, word));
    if (!std::getline(std::cin, word)) {
      out_.close();
      return false;
    }
    out_ << word << std::endl;
    return true;
  }

 private:
  int rank_;
  std::ifstream in_;
  std::ofstream out_;
};

struct Question {
  bool of_both;  // runs on both ranks, else on rank 0 only
  std::function<void()> action;
};
using Questions = std::map<std::string, Question>;

// bench::answer for two ranks; `meet` is a barrier.
void answer_together(Words& words, const Questions& questions, const std::function<void()>& meet) {
  const bool first = world_rank() == 0;
  for (std::string word; words.next(word);) {
    const auto found = questions.find(word);
    require(found != questions.end(), "no such question: " + word);
    const auto& [of_both, action] = found->second;
    if (!of_both && !first) continue;
    if (of_both) meet();
    const auto begin = std::chrono::steady_clock::now();
    action();
    if (of_both) meet();
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - begin;
    if (first) say({{"ms", spent.count()}});
  }
}

// Some agents of the paper's problem, on their own ring or as the part of this rank.
struct Part {
  std::unique_ptr<Objective<float>> objective;
  std::unique_ptr<Rounds<float>> rounds;

  Part(const std::vector<Dataset<float>>& all, int first, int count, Pool& pool,
       Transport* transport = nullptr) {
    std::vector<Dataset<float>> some(all.begin() + first, all.begin() + first + count);
    std::vector<std::size_t> sizes;
    for (const auto& shard : all) sizes.push_back(shard.samples());
    objective =
        transport == nullptr
            ? make_objective<float>({}, std::move(some), {}, agents)
            : make_objective<float>({}, Shards<float>(std::move(some), first, sizes), {}, agents);
    rounds = std::make_unique<Rounds<float>>(*objective, step_sizes(), pool, transport);
  }
};

void run_rounds(const fs::path& folder) {
  Words words;
  MpiTransport transport(MPI_COMM_WORLD, 60, true);
  require(transport.size() == 2, "there are not two ranks");
  const bool is_first = transport.rank() == 0;
  Pool one(1), two(is_first ? 2 : 1);
  const auto all = load_shards<float>(folder);
  Part together(all, transport.rank() * half, half, one, &transport);
  const Drift drift(agents, together.objective->dimension());

  // The timed run must have the digest of the run in one process.
  const auto ranks = make_rounds(drift, one, &transport), process = make_rounds(drift, two);
  for (Rounds<float>* rounds : {together.rounds.get(), ranks.get(), process.get()})
    rounds->steps(checked_rounds);
  const std::string of_together = together.rounds->digest(), of_ranks = ranks->digest();
  if (is_first) {
    Part whole(all, 0, agents, two);
    whole.rounds->steps(checked_rounds);
    require(whole.rounds->digest() == of_together, "two ranks give other bits than one process");
    require(process->digest() == of_ranks, "two ranks exchange other bits than one process");
  }
  Part first_half(all, 0, half, one), second_half(all, half, half, one);
  Part& mine = is_first ? first_half : second_half;
  const auto frame =
      make_codec<float>({.kind = "qsgd", .bits = 8})->payload_bytes(drift.dimension());
  if (is_first)
    say({{"paper_rounds", paper_rounds},
         {"drift_rounds", drift_rounds},
         {"frame_bytes", frame + frame_header_bytes},
         {"library", transport.library()}});

  answer_together(words,
                  {{"first_half", {false, [&] { first_half.rounds->steps(paper_rounds); }}},
                   {"second_half", {false, [&] { second_half.rounds->steps(paper_rounds); }}},
                   {"apart", {true, [&] { mine.rounds->steps(paper_rounds); }}},
                   {"together", {true, [&] { together.rounds->steps(paper_rounds); }}},
                   {"process", {false, [&] { process->steps(drift_rounds); }}},
                   {"ranks", {true, [&] { ranks->steps(drift_rounds); }}}},
                  [&] { barrier(transport, channel_control); });
  for (Rounds<float>* rounds : {together.rounds.get(), mine.rounds.get(), ranks.get()})
    require(rounds->finite(), "the state is not finite");
  const std::string digest = together.rounds->digest();
  if (is_first) say({{"digest", digest}});
  transport.close();
}

void run_pings(std::size_t bytes) {
  Words words;
  const int rank = world_rank(), count = static_cast<int>(bytes);
  std::vector<unsigned char> message(bytes, rank == 0 ? 1 : 0);
  const auto ping = [&] {
    for (int i = 0; i < 2 * pings; ++i)
      if (i % 2 == rank)
        MPI_Send(message.data(), count, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
      else
        MPI_Recv(message.data(), count, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  if (rank == 0) say({{"messages", 2 * pings}});
  answer_together(words, {{"ping", {true, ping}}}, [] { MPI_Barrier(MPI_COMM_WORLD); });
  require(std::ranges::all_of(message, [](unsigned char c) { return c == 1; }),
          "the message did not arrive");
  if (rank == 0) say({{"bytes", bytes}});
  MPI_Finalize();
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Rounds on two ranks, timed when asked");
  std::string folder;
  std::size_t bytes = 0;
  const auto paper = app.add_option("--folder", folder);
  const auto ping = app.add_option("--ping", bytes)->check(CLI::Range(1, 1 << 30))->excludes(paper);
  app.require_option(1);
  CLI11_PARSE(app, count, words);
  return guarded("bench_ranks", [&] {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    if (ping->count() > 0)
      run_pings(bytes);
    else
      run_rounds(folder);
  });
}
