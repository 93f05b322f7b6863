// 10^5 frames over MPI that are damaged, or intact but not the expected one: none is accepted.
#include <gtest/gtest.h>

#include "dense/problem.hpp"
#include "mpi/world.hpp"
#include "ticopd/network/cpu.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd::dense {
namespace {

constexpr std::size_t d = 40;
constexpr std::uint32_t round = 3;
constexpr int damages = 100'000;
constexpr int window = 100;  // frames in flight at most

const Codec<float>& codec() {
  static const auto made = [] {
    CodecOptions options;
    options.kind = "qsgd";
    options.bits = 5;
    return make_codec<float>(options);
  }();
  return *made;
}

std::vector<float> sent_row() {
  std::vector<float> v(d);
  for (std::size_t k = 0; k < d; ++k) v[k] = 0.1f * static_cast<float>(k) - 1.7f;
  return v;
}

// The message of agent 1 in this round, with surrogate h = 0 before it.
struct Message {
  FrameHeader header;
  Bytes body;
  std::vector<float> row = std::vector<float>(d);

  Message() {
    const Noise noise{1, round, 1, 0};
    EXPECT_TRUE(codec().encode(sent_row(), noise, body));
    EXPECT_TRUE(codec().decode(body, noise, row));
    header.round = round;
    header.agent = 1;
    header.d = d;
    for (float& x : row) x = 0.0f + 1.0f * x;  // h + gain q
    header.surrogate = hash_row(std::as_bytes(std::span(row)));
  }
};

// Pseudo-random numbers, the same in every run.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t n) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::size_t>(state_ >> 33) % n;
  }

 private:
  std::uint64_t state_;
};

Bytes damaged(const Message& right, Dice& dice) {
  FrameHeader header = right.header;
  Bytes body = right.body, frame = make_frame(header, body);
  switch (dice.below(10)) {
    case 0:
      frame[dice.below(frame.size())] ^= static_cast<std::byte>(1 << dice.below(8));
      break;
    case 1:
      frame.resize(dice.below(frame.size()));
      break;
    case 2:
      frame.resize(frame.size() + 1 + dice.below(200));
      break;
    case 3:
      frame = Bytes(dice.below(300), static_cast<std::byte>(dice.below(256)));
      break;
    case 4: {  // a wrong length with a right checksum
      body.resize(dice.below(2 * body.size()));
      if (body.size() == right.body.size()) body.pop_back();
      return make_frame(header, body);
    }
    case 5:
      header.round = dice.below(2) ? round - 1 : round + 1 + dice.below(1000);
      break;
    case 6:
      header.channel = static_cast<std::uint16_t>(1 + dice.below(100));
      break;
    case 7:
      header.agent = static_cast<std::uint32_t>(dice.below(2) ? 0 : 2 + dice.below(100));
      break;
    case 8:
      header.type = dice.below(2) ? FrameType::raw : FrameType::skip;
      break;
    default:
      if (dice.below(2))
        header.d = dice.below(2) ? d + 1 : std::size_t{1} << dice.below(63);
      else
        header.scalar_bytes = 8;
      if (header.d == d && header.scalar_bytes == 4) header.d = 0;
  }
  return header == right.header ? frame : make_frame(header, body);
}

TEST(DamagedFrames, DamagedFramesAreAllRejectedAndTheRightOneIsAccepted) {
  MpiRanks::run(2, 60, [](Transport& t) {
    const Message right;
    if (t.rank() == 1) {
      Dice dice(7);
      for (int i = 0; i < damages; ++i) {
        t.send(0, 0, damaged(right, dice));
        if (i % window == window - 1) (void)t.receive(0, 1);
      }
      t.send(0, 0, make_frame(right.header, right.body));
      (void)t.receive(0, 0);
      return;
    }
    const Graph graph = path(2);
    const LeastSquares<float> f(ProblemSize{2, d, 3});
    Pool pool(1);
    CpuNetwork<float> net(
        {.graph = graph, .objective = f, .codec = codec(), .transport = t, .pool = pool});
    net.begin_round(round);
    CpuMirror<float> mirror(net, net.laplacian(), 0);
    mirror.send(net.field());
    int refused = 0;
    for (int i = 0; i < damages; ++i) {
      try {
        mirror.receive();
        FAIL() << "damaged frame " << i << " was accepted";
      } catch (const FormatError& e) {
        const std::string what = e.what();
        if (what.find("agent 1, round 3, channel 0") != std::string::npos) ++refused;
      }
      if (i % window == window - 1) t.send(1, 1, {});
    }
    EXPECT_EQ(refused, damages);
    mirror.receive();
    const auto ghost = mirror.own().row(1);
    EXPECT_TRUE(std::equal(ghost.begin(), ghost.end(), right.row.begin()));
  });
}

}  // namespace
}  // namespace ticopd::dense
