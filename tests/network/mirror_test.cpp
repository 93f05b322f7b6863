// A mirror: surrogates, mixtures and ghost rows after each kind of send.
#include "ticopd/network/mirror.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "dense/problem.hpp"
#include "network/ranks.hpp"
#include "ticopd/error.hpp"

namespace ticopd::dense {
namespace {

constexpr int n = 7;
constexpr std::size_t d = 19;

CodecOptions codec(const std::string& kind) {
  CodecOptions o;
  o.kind = kind;
  o.bits = 4;
  o.k = 5;
  return o;
}

// A network in one process, with a field of random rows.
template <class T>
struct World {
  explicit World(const std::string& kind, Transport* over = nullptr, std::size_t cols = d,
                 ChannelNoise noise = {})
      : f({n, cols, 2}),
        coder(make_codec<T>(codec(kind))),
        pool(2),
        net({.graph = graph,
             .objective = f,
             .codec = *coder,
             .transport = over ? *over : alone,
             .pool = pool,
             .channel_noise = noise}) {
    net.begin_round(1);
  }
  Field<T> rows(std::uint32_t number) const {
    Field<T> v = net.field();
    for (std::size_t row = 0; row < v.rows(); ++row) {
      Generator random(Noise{3, number, static_cast<std::uint32_t>(net.placement().agent(row)),
                             stream_synthetic});
      for (T& x : v.row(row)) x = static_cast<T>(random.normal());
    }
    return v;
  }
  // Q of one agent's row with the noise of this round and channel.
  std::vector<T> Q(std::span<const T> v, int agent, std::uint32_t round,
                   std::uint32_t channel) const {
    const MessageId message{1, round, static_cast<std::uint32_t>(agent), channel};
    Bytes bytes;
    std::vector<T> q(v.size());
    EXPECT_TRUE(coder->encode(v, message, bytes) && coder->decode(bytes, message, q));
    return q;
  }
  std::vector<T> copy(const Field<T>& x, std::size_t row) const {
    return {x.row(row).begin(), x.row(row).end()};
  }

  Graph graph = erdos_renyi(n, 0.5, 3);
  LeastSquares<T> f;
  std::unique_ptr<Codec<T>> coder;
  Alone alone;
  Pool pool;
  CpuNetwork<T> net;
};

TEST(Mirror, ChannelNoiseDoesNotTouchRowsThatAreNotSent) {
  World<float> w("random_gossip", nullptr, d, {ChannelNoise::Kind::uniform, 1e-3});
  CpuMirror<float> mirror(w.net, w.net.laplacian(), 2);
  int silent = 0;
  for (std::uint32_t round = 1; round <= 4; ++round) {
    w.net.begin_round(round);
    const Field<float> v = w.rows(round);
    const Field<float> before = mirror.own();
    mirror.send(v);
    mirror.receive();
    for (std::size_t row = 0; row < n; ++row) {
      const MessageId message{1, round, static_cast<std::uint32_t>(row), 2};
      const bool same = w.copy(mirror.own(), row) == w.copy(before, row);
      EXPECT_EQ(same, !w.coder->travels(message)) << "round " << round << ", agent " << row;
      silent += same;
    }
  }
  EXPECT_GT(silent, 0);
  EXPECT_LT(silent, 4 * n);
}

TEST(Mirror, TwoMirrorsCannotShareAChannel) {
  World<float> w("qsgd");
  {
    const CpuMirror<float> one(w.net, w.net.laplacian(), 2), other(w.net, w.net.laplacian(), 3);
    EXPECT_THROW(CpuMirror<float>(w.net, w.net.laplacian(), 2), std::logic_error);
  }
  EXPECT_NO_THROW(CpuMirror<float>(w.net, w.net.laplacian(), 2)) << "it is free again";
  EXPECT_THROW(CpuMirror<float>(w.net, w.net.laplacian(), 64), std::logic_error);
}

TEST(Mirror, MovesByTheGainTimesTheSentRow) {
  World<float> w("qsgd");
  CpuMirror<float> mirror(w.net, w.net.laplacian(), 2, {.estimate = true, .sent = true});
  for (std::uint32_t round = 1; round <= 4; ++round) {
    w.net.begin_round(round);
    const Field<float> v = w.rows(round);
    const Field<float> before = mirror.own();
    const float gain = 0.25f * static_cast<float>(round);
    mirror.send(v, gain);
    mirror.receive();
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<float> difference(d);
      for (std::size_t k = 0; k < d; ++k) difference[k] = v.row(i)[k] - before.row(i)[k];
      const std::vector<float> q = w.Q(difference, static_cast<int>(i), round, 2);
      EXPECT_EQ(w.copy(mirror.sent(), i), q);
      for (std::size_t k = 0; k < d; ++k) {
        EXPECT_EQ(mirror.estimate().row(i)[k], before.row(i)[k] + q[k]);
        EXPECT_EQ(mirror.own().row(i)[k], before.row(i)[k] + gain * q[k]);
      }
    }
  }
}

// Long rows are sent, applied and received in chunks.
TEST(Mirror, MovesLongRowsLikeShortOnes) {
  const std::size_t cols = 4500;
  for (const std::string kind : {"qsgd", "sign", "top_k"}) {
    ThreadRanks ranks(2, 20);
    const auto errors = on_every_rank(ranks, 2, [&](Transport& t) {
      World<float> w(kind, &t, cols);
      CpuMirror<float> mirror(w.net, w.net.laplacian(), 1, {.estimate = true, .sent = true});
      Field<float> before = mirror.own();
      for (std::uint32_t round = 1; round <= 3; ++round) {
        w.net.begin_round(round);
        const Field<float> v = w.rows(round);
        before = mirror.own();
        mirror.send(v, 0.75f);
        mirror.receive();  // compares the ghost rows with their owners' rows
        for (std::size_t i = 0; i < v.rows(); ++i) {
          std::vector<float> difference(cols), moved(cols);
          for (std::size_t k = 0; k < cols; ++k) difference[k] = v.row(i)[k] - before.row(i)[k];
          const std::vector<float> q = w.Q(difference, w.net.placement().agent(i), round, 1);
          for (std::size_t k = 0; k < cols; ++k) moved[k] = before.row(i)[k] + 0.75f * q[k];
          ASSERT_EQ(w.copy(mirror.own(), i), moved) << kind;
          ASSERT_EQ(w.copy(mirror.sent(), i), q) << kind;
        }
      }
    });
    for (const auto& error : errors) EXPECT_FALSE(error) << message_of(error);
  }
}

TEST(Mirror, MixturesEqualTheMatrixTimesTheRowsInAscendingOrder) {
  World<float> w("qsgd");
  CpuMirror<float> mirror(w.net, w.net.w_minus_i(), 0, {.estimate = true});
  mirror.send(w.rows(1), 0.5f);
  mirror.receive();
  Field<float> mixed = w.net.field(), mixed_estimate = w.net.field();
  const auto assign = [](float& to, float from) { to = from; };
  w.net.map(assign, mixed, mirror.mixed());
  w.net.map(assign, mixed_estimate, mirror.mixed_estimate());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < d; ++k) {
      float a = 0, b = 0;
      for (const auto& [agent, weight] : w.net.w_minus_i().rows[i]) {
        a += static_cast<float>(weight) * mirror.own().row(static_cast<std::size_t>(agent))[k];
        b += static_cast<float>(weight) * mirror.estimate().row(static_cast<std::size_t>(agent))[k];
      }
      ASSERT_EQ(mixed.row(i)[k], a);
      ASSERT_EQ(mixed_estimate.row(i)[k], b);
    }
}

// h + (v - h) is not v in floating point, so a lossless codec must send v itself.
TEST(Mirror, IdentityCodecGivesTheExactRows) {
  World<float> w("identity");
  CpuMirror<float> mirror(w.net, w.net.laplacian(), 0, {.estimate = true, .sent = true});
  Field<float> huge = w.rows(1);
  for (std::size_t i = 0; i < n; ++i)
    for (float& x : huge.row(i)) x *= 1e9f;
  mirror.send(huge);
  mirror.receive();
  const Field<float> v = w.rows(2);
  bool matters = false;
  for (std::size_t k = 0; k < d; ++k)
    matters |= huge.row(0)[k] + (v.row(0)[k] - huge.row(0)[k]) != v.row(0)[k];
  ASSERT_TRUE(matters);
  mirror.send(v);
  mirror.receive();
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(w.copy(mirror.own(), i), w.copy(v, i));
    EXPECT_EQ(w.copy(mirror.estimate(), i), w.copy(v, i));
    for (std::size_t k = 0; k < d; ++k)
      EXPECT_EQ(mirror.sent().row(i)[k], v.row(i)[k] - huge.row(i)[k]);
  }
  mirror.send(w.rows(3), 0.5f);  // with a gain below one it moves part of the way
  mirror.receive();
  const Field<float> u = w.rows(3);
  for (std::size_t k = 0; k < d; ++k) {
    EXPECT_EQ(mirror.own().row(2)[k], v.row(2)[k] + 0.5f * (u.row(2)[k] - v.row(2)[k]));
    EXPECT_EQ(mirror.estimate().row(2)[k], u.row(2)[k]);
  }
}

TEST(Mirror, SendRawSendsTheRowsNotADifference) {
  World<double> w("top_k");
  CpuMirror<double> mirror(w.net, w.net.w_neighbours(), 1, {.sent = true});
  for (std::uint32_t round = 1; round <= 2; ++round) {  // the rounds are independent
    w.net.begin_round(round);
    mirror.send_raw(w.rows(round));
    mirror.receive();
    for (std::size_t i = 0; i < n; ++i) {
      const std::vector<double> q = w.Q(w.rows(round).row(i), static_cast<int>(i), round, 1);
      EXPECT_EQ(w.copy(mirror.own(), i), q);
      EXPECT_EQ(w.copy(mirror.sent(), i), q);
    }
  }
}

TEST(Mirror, SendsOnlyRowsThatMovedFarEnough) {
  World<double> w("qsgd");
  CpuMirror<double> mirror(w.net, w.net.laplacian(), 0);
  mirror.send(w.rows(1));
  mirror.receive();
  const Field<double> before = mirror.own();
  const std::uint64_t sent = w.net.ledger().agents[3].payload_bytes;
  const double paper = w.net.ledger().agents[3].paper_bits;
  Field<double> v = before;
  v.row(5)[2] += 2;  // squared distance 4
  v.row(3)[0] += 1;  // distance 1: not more than the threshold
  mirror.send_moved(v, 1.0);
  mirror.receive();
  EXPECT_EQ(w.copy(mirror.own(), 3), w.copy(before, 3));
  EXPECT_EQ(w.net.ledger().agents[3].payload_bytes, sent);
  EXPECT_EQ(w.net.ledger().agents[3].messages, 2u) << "that there is none is a message";
  EXPECT_EQ(w.net.ledger().agents[3].paper_bits, paper + 1);
  EXPECT_NE(w.copy(mirror.own(), 5), w.copy(before, 5));
  EXPECT_EQ(w.net.ledger().agents[5].payload_bytes, 2 * sent);
  v.row(3)[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(mirror.send_moved(v, 1.0), Diverged) << "a NaN is far from everything";
}

TEST(Mirror, CommonStartIsFreeAndOwnStartIsSentInFull) {
  World<double> w("qsgd");
  CpuMirror<double> mirror(w.net, w.net.laplacian(), 0);
  Field<double> common = w.net.field();
  common.fill_rows(w.rows(1).row(0));
  mirror.start_at_common(common);
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(w.copy(mirror.own(), i), w.copy(common, 0));
  EXPECT_EQ(w.net.ledger().agents[0].messages, 0u);
  mirror.start_at(w.rows(2));
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(w.copy(mirror.own(), i), w.copy(w.rows(2), i));
  EXPECT_EQ(w.net.ledger().agents[0].payload_bytes, d * sizeof(double));
  mirror.send(w.rows(3));  // later messages use the codec of the run
  EXPECT_EQ(w.net.ledger().agents[0].payload_bytes, d * sizeof(double) + w.coder->payload_bytes(d));
}

TEST(Mirror, RejectsASecondSendAndReadingAMixtureInFlight) {
  World<float> w("sign");
  CpuMirror<float> mirror(w.net, w.net.laplacian(), 0, {.estimate = true});
  mirror.send(w.rows(1));
  EXPECT_THROW(mirror.send(w.rows(1)), std::logic_error);
  EXPECT_THROW(mirror.send_raw(w.rows(1)), std::logic_error);
  EXPECT_THROW((void)mirror.mixed(), std::logic_error);
  EXPECT_THROW((void)mirror.mixed_estimate(), std::logic_error);
  EXPECT_NO_THROW((void)mirror.own());
  mirror.receive();
  EXPECT_NO_THROW((void)mirror.mixed());
  EXPECT_NO_THROW(mirror.receive()) << "receiving twice is harmless";
}

TEST(Mirror, RejectsRowsThatAreNotFiniteAndNamesAgentAndRound) {
  for (const char* kind : {"identity", "qsgd", "top_k", "rand_k", "sign"})
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      World<float> w(kind);
      w.net.begin_round(23);
      CpuMirror<float> mirror(w.net, w.net.laplacian(), 0);
      Field<float> v = w.rows(1);
      v.row(6)[1] = bad;
      v.row(4)[d - 1] = bad;
      try {
        mirror.send(v);
        ADD_FAILURE() << kind;
      } catch (const Diverged& e) {
        const std::string text = e.what();
        EXPECT_NE(text.find("agent 4"), std::string::npos)
            << "the lowest, whoever came first: " << text;
        EXPECT_NE(text.find("round 23"), std::string::npos) << text;
      }
    }
}

// The ghost rows of each rank equal its neighbours' surrogates, bit by bit, with another matrix and
// gain.
TEST(Mirror, GhostRowsEqualTheOwnersRows) {
  for (const char* kind : {"identity", "qsgd", "rand_k"}) {
    Field<float> all(n, d);
    {
      World<float> w(kind);
      CpuMirror<float> mirror(w.net, w.net.laplacian(), 0);
      mirror.start_at(w.rows(9));
      mirror.send(w.rows(1), 0.7f);
      mirror.receive();
      all = mirror.own();
    }
    ThreadRanks ranks(3, 20);
    const auto errors = on_every_rank(ranks, 3, [&](Transport& t) {
      World<float> w(kind, &t);
      CpuMirror<float> mirror(w.net, w.net.laplacian(), 0);
      mirror.start_at(w.rows(9));
      mirror.send(w.rows(1), 0.7f);
      mirror.receive();
      EXPECT_GT(mirror.routes().ids().size(), w.net.placement().rows()) << "there are ghosts";
      for (std::size_t slot = 0; slot < mirror.routes().ids().size(); ++slot)
        EXPECT_EQ(w.copy(mirror.own(), slot),
                  w.copy(all, static_cast<std::size_t>(mirror.routes().ids()[slot])));
    });
    for (const auto& error : errors) EXPECT_FALSE(error) << message_of(error);
  }
}

}  // namespace
}  // namespace ticopd::dense
