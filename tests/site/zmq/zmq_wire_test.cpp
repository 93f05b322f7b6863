// The sockets of sites against strangers: nothing of theirs is handed on.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <thread>
#include <zmq.hpp>

#include "site/zmq/knock.hpp"
#include "ticopd/error.hpp"
#include "ticopd/site/disk_store.hpp"
#include "ticopd/site/keys.hpp"
#include "ticopd/site/messages.hpp"
#include "ticopd/site/site_wire.hpp"
#include "ticopd/system/descriptor.hpp"

extern "C" ticopd::SiteWire* ticopd_zmq_wire(const ticopd::WireSettings& settings);

namespace ticopd {
namespace {

constexpr int tries = 100;  // of 0.1 or 0.2 seconds: the machine may be busy

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ::bind(fd, reinterpret_cast<sockaddr*>(&at), size);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
  ::close(fd);
  return ntohs(at.sin_port);
}

Bytes text(std::string_view words) {
  return to_bytes<char>(std::span(words.data(), words.size()));
}

// Two sites: "a" connects, "b" listens.
struct Sites {
  Sites() {
    settings.sites = {{"a", "", from_z85(a.public_key), true},
                      {"b", address, from_z85(b.public_key), true},
                      {"c", "", from_z85(c.public_key), false}};
  }
  std::unique_ptr<SiteWire> open(int own) {
    WireSettings mine = settings;
    mine.own = own;
    mine.secret = from_z85(own == 0 ? a.secret : own == 1 ? b.secret : c.secret);
    if (own == 1) mine.listen = address;
    return std::unique_ptr<SiteWire>(ticopd_zmq_wire(mine));
  }

  KeyPair a = make_keys(KeyKind::site, "a"), b = make_keys(KeyKind::site, "b"),
          c = make_keys(KeyKind::site, "c");
  int port = free_port();
  std::string address = "127.0.0.1:" + std::to_string(port);
  WireSettings settings;
  MachineClock clock;

  std::optional<Wire::Arrived> receive(SiteWire& wire, Time seconds_10) {
    return wire.receive(clock.now() + seconds_10 * one_second / 10);
  }
  // Takes in what was said more than once.
  void hear_all(SiteWire& wire) {
    while (receive(wire, 1)) {
    }
  }
  // Says something until the other one hears it.
  bool says(SiteWire& from, int to, SiteWire& other, std::string_view words) {
    for (int i = 0; i < tries; ++i) {
      from.send(to, text(words));
      receive(from, 0);
      if (const auto arrived = receive(other, 2)) return arrived->message == text(words);
    }
    return false;
  }
};

TEST(ZmqWire, CarriesMessagesBothWays) {
  Sites s;
  const auto a = s.open(0), b = s.open(1);
  EXPECT_TRUE(s.says(*a, 1, *b, "hello"));
  EXPECT_TRUE(s.says(*b, 0, *a, "welcome"));
  EXPECT_EQ(b->counts().refused, 0u);
  EXPECT_GT(b->counts().received[0], 0u);
}

TEST(ZmqWire, CarriesTheLargestMessageOfASite) {
  Sites s;
  const auto a = s.open(0), b = s.open(1);
  Message m{.type = MessageType::data, .length = piece_bytes};
  m.body = Bytes(piece_bytes);
  const Bytes bytes = encode(m);
  const std::string_view words(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_TRUE(s.says(*a, 1, *b, words));
}

TEST(ZmqWire, ASiteMayEndAndComeBack) {
  Sites s;
  const auto b = s.open(1);
  for (int life = 0; life < 3; ++life) {
    const auto a = s.open(0);
    EXPECT_TRUE(s.says(*a, 1, *b, "hello")) << life;
    s.hear_all(*b);
    EXPECT_TRUE(s.says(*b, 0, *a, "welcome")) << life;
  }
}

TEST(ZmqWire, RefusesAPortThatIsTaken) {
  Sites s;
  const auto b = s.open(1);
  try {
    s.open(1);
    FAIL();
  } catch (const UnavailableError& e) {
    EXPECT_NE(std::string(e.what()).find(s.address), std::string::npos) << e.what();
  }
}

// Until the wire has counted it.
template <class Count>
bool counted(Sites& s, SiteWire& b, const Count& count) {
  for (int i = 0; i < tries && count(b.counts()) == 0; ++i) EXPECT_FALSE(s.receive(b, 1));
  return count(b.counts()) > 0;
}

// A dealer with these keys, which sends to b what a site would say.
enum class Refused : unsigned char { counted, unseen };

void attack(Sites& s, SiteWire& b, const std::optional<KeyPair>& keys, Refused refused,
            bool curve = true) {
  zmq::context_t context;
  zmq::socket_t stranger(context, zmq::socket_type::dealer);
  stranger.set(zmq::sockopt::linger, 0);
  stranger.set(zmq::sockopt::routing_id, "a");
  if (curve) {
    stranger.set(zmq::sockopt::curve_serverkey, zmq::buffer(from_z85(s.b.public_key)));
    stranger.set(zmq::sockopt::curve_publickey, zmq::buffer(from_z85(keys->public_key)));
    stranger.set(zmq::sockopt::curve_secretkey, zmq::buffer(from_z85(keys->secret)));
  }
  stranger.connect("tcp://" + s.address);
  const Bytes words = encode({.type = MessageType::hello, .from = 1, .nonce = 2});
  for (int i = 0; i < 10; ++i) {
    stranger.send(zmq::buffer(words.data(), words.size()), zmq::send_flags::dontwait);
    EXPECT_FALSE(s.receive(b, 1)) << "a stranger was heard";
  }
  if (refused == Refused::counted) {
    EXPECT_TRUE(counted(s, b, [](const WireCounts& c) { return c.refused; }));
  }
  EXPECT_EQ(b.counts().received[0], 0u);
}

TEST(ZmqWire, HearsNothingOfAStrangersKey) {
  Sites s;
  const auto b = s.open(1);
  attack(s, *b, make_keys(KeyKind::site, "a"), Refused::counted);
}

TEST(ZmqWire, HearsNothingOfASiteThatIsNoNeighbour) {
  Sites s;
  const auto b = s.open(1);
  attack(s, *b, s.c, Refused::counted);
}

TEST(ZmqWire, HearsNothingOfAPublicKeyWithoutItsSecret) {
  Sites s;
  const auto b = s.open(1);
  KeyPair stolen = make_keys(KeyKind::site, "a");
  stolen.public_key = s.a.public_key;
  attack(s, *b, stolen, Refused::unseen);
}

TEST(ZmqWire, HearsNothingOfAConnectionWithoutEncryption) {
  Sites s;
  const auto b = s.open(1);
  attack(s, *b, std::nullopt, Refused::unseen, false);
}

TEST(ZmqWire, HearsNothingOfGarbageAndGoesOn) {
  Sites s;
  const auto b = s.open(1);
  std::vector<Descriptor> open;
  std::uint32_t noise = 1;
  for (int i = 0; i < 50; ++i) {
    open.push_back(knock(s.port));
    std::array<unsigned char, 4096> bytes{};
    for (unsigned char& byte : bytes)
      byte = static_cast<unsigned char>((noise = noise * 1664525 + 1013904223) >> 24);
    if (i % 2 == 0) bytes[0] = 0xff;  // a greeting of ZMTP begins so
    if (i % 2 == 0) bytes[9] = 0x7f;
    EXPECT_GE(::send(open.back().get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
    EXPECT_FALSE(s.receive(*b, 0));
  }
  EXPECT_FALSE(s.receive(*b, 5));
  const auto a = s.open(0);
  EXPECT_TRUE(s.says(*a, 1, *b, "hello")) << "strangers must not keep a neighbour out";
  EXPECT_TRUE(counted(s, *b, [](const WireCounts& c) { return c.refused; }));
}

std::size_t open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// ZeroMQ itself takes as many as there may be open files, and then no checkpoint can be written.
// Meanwhile the site computes: nobody calls its wire.
TEST(ZmqWire, EndsConnectionsOfStrangersWhenTheyAreTooMany) {
  Sites s;
  const auto b = s.open(1), a = s.open(0);
  ASSERT_TRUE(s.says(*a, 1, *b, "hello"));
  s.hear_all(*b);
  const std::size_t before = open_files();
  std::vector<Descriptor> strangers;
  std::size_t most = 0;
  for (int i = 0; i < 2000; ++i) {
    strangers.push_back(knock(s.port));
    most = std::max(most, open_files() - before - strangers.size());
  }
  EXPECT_LT(most, 700u) << "connections that the listener held at once";
  for (int i = 0; i < tries && open_files() > before + strangers.size() + 64; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LE(open_files(), before + strangers.size() + 64);
  EXPECT_GE(b->counts().refused, 1000u);
  EXPECT_TRUE(s.says(*a, 1, *b, "still here")) << "the neighbour keeps its connection";
}

TEST(ZmqWire, EndsTheConnectionOfANeighbourThatSaysOddThingsAgainAndAgain) {
  Sites s;
  const auto b = s.open(1), a = s.open(0);
  ASSERT_TRUE(s.says(*a, 1, *b, "hello"));
  s.hear_all(*b);
  const std::size_t before = open_files();
  for (int i = 0; i < 16; ++i) b->odd(0);
  EXPECT_EQ(b->counts().cut_off, 1u);
  bool ended = false;
  for (int i = 0; i < 10000 && !ended; ++i) ended = open_files() < before;
  EXPECT_TRUE(ended);
  EXPECT_TRUE(s.says(*a, 1, *b, "again")) << "it may come back";
}

TEST(ZmqWire, MakesAConnectionToANeighbourAnewThatSaysOddThings) {
  Sites s;
  const auto b = s.open(1), a = s.open(0);
  ASSERT_TRUE(s.says(*a, 1, *b, "hello"));
  s.hear_all(*b);
  for (int i = 0; i < 16; ++i) a->odd(1);
  EXPECT_EQ(a->counts().cut_off, 1u);
  EXPECT_TRUE(s.says(*a, 1, *b, "again"));
}

// A neighbour is who its key says, whatever it calls itself.
TEST(ZmqWire, ANeighbourCannotSpeakForAnotherOne) {
  Sites s;
  s.settings.sites[2].neighbour = true;
  const auto b = s.open(1);
  zmq::context_t context;
  zmq::socket_t liar(context, zmq::socket_type::dealer);
  liar.set(zmq::sockopt::linger, 0);
  liar.set(zmq::sockopt::routing_id, "a");
  liar.set(zmq::sockopt::curve_serverkey, zmq::buffer(from_z85(s.b.public_key)));
  liar.set(zmq::sockopt::curve_publickey, zmq::buffer(from_z85(s.c.public_key)));
  liar.set(zmq::sockopt::curve_secretkey, zmq::buffer(from_z85(s.c.secret)));
  liar.connect("tcp://" + s.address);
  bool heard = false;
  for (int i = 0; i < tries && !heard; ++i) {
    liar.send(zmq::buffer("I am a"), zmq::send_flags::dontwait);
    if (const auto arrived = s.receive(*b, 2)) {
      heard = true;
      EXPECT_EQ(arrived->site, 2) << "it was taken for a";
    }
  }
  EXPECT_TRUE(heard);
}

TEST(ZmqWire, DropsMessagesOfSeveralParts) {
  Sites s;
  const auto b = s.open(1);
  zmq::context_t context;
  zmq::socket_t odd(context, zmq::socket_type::dealer);
  odd.set(zmq::sockopt::linger, 0);
  odd.set(zmq::sockopt::curve_serverkey, zmq::buffer(from_z85(s.b.public_key)));
  odd.set(zmq::sockopt::curve_publickey, zmq::buffer(from_z85(s.a.public_key)));
  odd.set(zmq::sockopt::curve_secretkey, zmq::buffer(from_z85(s.a.secret)));
  odd.connect("tcp://" + s.address);
  for (int i = 0; i < 10; ++i) {
    odd.send(zmq::buffer("one"), zmq::send_flags::sndmore);
    odd.send(zmq::buffer("two"), zmq::send_flags::none);
    EXPECT_FALSE(s.receive(*b, 1));
  }
  EXPECT_TRUE(counted(s, *b, [](const WireCounts& c) { return c.dropped; }));
}

}  // namespace
}  // namespace ticopd
