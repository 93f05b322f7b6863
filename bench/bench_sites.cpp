// Times rounds in lockstep between two processes, on request: each sends the other a frame of
// 90,000 bytes and receives one, over encrypted connections of ZeroMQ.
//
//   printf 'bare\nsessions\n' | bench_sites [--folder DIR]
//
// The folder is for checkpoints; without one they go into a temporary one.
// `bare`: over the sockets alone. `sessions`: over SiteTransport. `saved`: the same with a
// checkpoint of both sites every 100 rounds, which holds three rows of 90,000 coordinates and the
// frames that are not safe yet. An answer is the time of 500 rounds. `state`: one checkpoint of 24
// MB of rows. The last line has the processor time of one of the two processes, by question.
#include <malloc.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <zmq.hpp>

#include "bench/ask.hpp"
#include "ticopd/site/disk_store.hpp"
#include "ticopd/site/generations.hpp"
#include "ticopd/site/keys.hpp"
#include "ticopd/site/site_state.hpp"
#include "ticopd/site/site_transport.hpp"
#include "ticopd/site/site_wire.hpp"

extern "C" ticopd::SiteWire* ticopd_zmq_wire(const ticopd::WireSettings& settings);

namespace {

using namespace ticopd;
using namespace ticopd::bench;

constexpr std::size_t frame_bytes = 90'000;
constexpr std::size_t large_state = 24'000'000;
constexpr int rounds = 500, save_every = 100;

int free_port() {
  const Descriptor fd(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ::bind(fd.get(), reinterpret_cast<sockaddr*>(&at), size);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &size);
  return ntohs(at.sin_port);
}

struct Place {
  std::array<KeyPair, 2> keys{make_keys(KeyKind::site, "0"), make_keys(KeyKind::site, "1")};
  std::string bare = "127.0.0.1:" + std::to_string(free_port());
  std::string site = "127.0.0.1:" + std::to_string(free_port());
  std::filesystem::path folder;
};

// The frame of a round, which the other side checks.
Bytes frame_of(std::uint32_t round) {
  Bytes frame(frame_bytes);
  std::memcpy(frame.data(), &round, sizeof round);
  return frame;
}

void check_frame(const void* bytes, std::size_t size, std::uint32_t round) {
  require(size == frame_bytes && std::memcmp(bytes, &round, sizeof round) == 0,
          "the frame of a round");
}

// A program that only exchanges messages would be written so.
class Bare {
 public:
  Bare(const Place& place, int own)
      : own_(own),
        socket_(context_, own == 0 ? zmq::socket_type::dealer : zmq::socket_type::router) {
    const auto binary = [](const std::string& text) { return from_z85(text); };
    socket_.set(zmq::sockopt::curve_secretkey, zmq::buffer(binary(place.keys[own].secret)));
    if (own == 0) {
      socket_.set(zmq::sockopt::curve_publickey, zmq::buffer(binary(place.keys[0].public_key)));
      socket_.set(zmq::sockopt::curve_serverkey, zmq::buffer(binary(place.keys[1].public_key)));
      socket_.connect("tcp://" + place.bare);
    } else {
      socket_.set(zmq::sockopt::curve_server, true);
      socket_.bind("tcp://" + place.bare);
    }
  }

  void round() {
    ++round_;
    const Bytes frame = frame_of(round_);
    if (own_ == 1 && route_.size() == 0) {  // who connects speaks first
      receive();
      send(frame);
      return;
    }
    send(frame);
    receive();
  }

 private:
  void send(const Bytes& frame) {
    if (own_ == 1) socket_.send(zmq::buffer(route_), zmq::send_flags::sndmore);
    socket_.send(zmq::buffer(frame.data(), frame.size()), zmq::send_flags::none);
  }
  void receive() {
    zmq::message_t m;
    if (own_ == 1) {
      require(socket_.recv(m).has_value(), "a route");
      route_ = m.to_string();
    }
    require(socket_.recv(m).has_value(), "a message");
    check_frame(m.data(), m.size(), round_);
  }

  int own_;
  std::uint32_t round_ = 0;
  std::string route_;
  zmq::context_t context_{1};
  zmq::socket_t socket_;
};

// Rows of a run that has nothing else.
class Rows final : public AnyRun<float> {
 public:
  explicit Rows(std::size_t rows) : rows_(rows, frame_bytes) {}
  void step() override {}
  Field<float>& x() override { return rows_; }
  void visit(StateVisitor<float>& state) override { state.field("x", rows_); }

 private:
  Field<float> rows_;
};

class Sessions {
 public:
  Sessions(const Place& place, int own)
      : own_(own),
        wire_(ticopd_zmq_wire(settings(place, own))),
        store_(place.folder / std::to_string(own)),
        generations_(store_),
        transport_(world_, {.names = {"0", "1"}, .own = own, .network = 7}) {}

  void round(bool save) {
    ++round_;
    frames_.send(1 - own_, 0, frame_of(round_));
    const Bytes frame = frames_.receive(1 - own_, 0);
    check_frame(frame.data(), frame.size(), round_);
    if (round_ % save_every != 0) return;
    const std::vector<std::uint64_t> now = transport_.consumed();
    if (save) {
      SiteState state;
      state.round = round_;
      state.sessions = transport_.records();
      generations_.write(encode_state<float>(state, rows_));
    }
    transport_.make_safe(std::exchange(consumed_, now));
  }
  void save_state() { generations_.write(encode_state<float>(SiteState(), large_)); }

 private:
  static WireSettings settings(const Place& place, int own) {
    WireSettings s{.own = own, .sites = {}, .secret = from_z85(place.keys[own].secret)};
    for (int i = 0; i < 2; ++i)
      s.sites.push_back(
          {std::to_string(i), i == 1 ? place.site : "", from_z85(place.keys[i].public_key), true});
    if (own == 1) s.listen = place.site;
    return s;
  }

  int own_;
  std::uint32_t round_ = 0;
  std::unique_ptr<SiteWire> wire_;
  MachineClock clock_;
  DiskStore store_;
  World world_{clock_, *wire_, store_};
  Generations generations_;
  SiteTransport transport_;
  Transport& frames_ = transport_;
  Rows rows_{3}, large_{large_state / sizeof(float) / frame_bytes};
  std::vector<std::uint64_t> consumed_;
};

// Sums over all threads of this process, since it began.
double processor_ms() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto ms = [](const timeval& t) {
    return 1e3 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_usec);
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

struct Side {
  Side(const Place& place, int own) : bare(place, own), sessions(place, own) {}
  Actions actions() {
    return {{"bare",
             [this] {
               for (int i = 0; i < rounds; ++i) bare.round();
             }},
            {"sessions",
             [this] {
               for (int i = 0; i < rounds; ++i) sessions.round(false);
             }},
            {"saved",
             [this] {
               for (int i = 0; i < rounds; ++i) sessions.round(true);
             }},
            {"state", [this] { sessions.save_state(); }}};
  }
  Bare bare;
  Sessions sessions;
};

// The other process does what this one is asked, as it reads the words from a pipe.
void other_process(const Place& place, std::FILE* words) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Side side(place, 1);
  const Actions actions = side.actions();
  for (char word[32]; std::fgets(word, sizeof word, words) != nullptr;)
    actions.at(std::string(word, std::strlen(word) - 1))();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app;
  Place place;
  app.add_option("--folder", place.folder);
  CLI11_PARSE(app, argc, argv);
  const bool temporary = place.folder.empty();
  mallopt(M_MMAP_THRESHOLD, 1 << 20);  // as `ticopd network join` does
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  return guarded("bench_sites", [&] {
    if (temporary) {
      std::string name = std::filesystem::temp_directory_path() / "bench_sites_XXXXXX";
      require(::mkdtemp(name.data()) != nullptr, "a temporary folder");
      place.folder = name;
    }
    for (const char* own : {"0", "1"}) std::filesystem::create_directories(place.folder / own);
    std::array<int, 2> ends{};
    require(::pipe(ends.data()) == 0, "a pipe");
    if (::fork() == 0) {
      ::close(ends[1]);
      ::_exit(guarded("bench_sites", [&] { other_process(place, ::fdopen(ends[0], "r")); }));
    }
    ::close(ends[0]);
    Side side(place, 0);
    Actions actions = side.actions();
    std::map<std::string, double> work;
    for (auto& [word, action] : actions)
      action = [&work, word, run = action, end = ends[1]] {
        const std::string line = word + "\n";
        require(::write(end, line.data(), line.size()) == static_cast<ssize_t>(line.size()),
                "a word");
        const double before = processor_ms();
        run();
        work[word] += processor_ms() - before;
      };
    say({{"rounds", rounds}, {"frame_bytes", frame_bytes}, {"save_every", save_every}});
    answer(actions);
    ::close(ends[1]);
    int code = 0;
    ::wait(&code);
    require(code == 0, "the other process ends well");
    require(!work.empty(), "a question: bare, sessions, saved or state, a line each");
    if (temporary) std::filesystem::remove_all(place.folder);
    say({{"processor_ms", work}});
  });
}
