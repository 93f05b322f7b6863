// Messages are made while somebody else computes the gradients, with the bits of any other run.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "ticopd/error.hpp"
#include "ticopd/network/cpu.hpp"
#include "ticopd/network/mirror.hpp"
#include "ticopd/transport/transport.hpp"

namespace ticopd {
namespace {

constexpr int n = 7;
constexpr std::size_t d = 19;

// Writes what it sees of the rows that are sent before and after the work that was left to it.
class Elsewhere final : public Objective<float> {
 public:
  int agents() const override { return n; }
  std::size_t dimension() const override { return d; }
  double value(int, std::span<const float>) const override { return 0; }
  void gradient(int agent, std::span<const float> x, std::span<float> g) const override {
    for (std::size_t k = 0; k < d; ++k) g[k] = x[k] - static_cast<float>(agent);
  }
  bool is_asked_elsewhere() const override { return asked_elsewhere; }
  void evaluate_rows_with(std::span<const RowRequest<float>> requests, std::span<double>,
                          const std::function<void()>& meanwhile) const override {
    before = look();
    meanwhile();
    after = look();
    for (const RowRequest<float>& r : requests) gradient(r.agent, r.x, r.g);
  }

  bool asked_elsewhere = true;
  std::function<std::uint64_t()> look = [] { return 0; };
  mutable std::uint64_t before = 0, after = 0;
};

struct World {
  explicit World(bool elsewhere)
      : coder(make_codec<float>({.kind = "qsgd", .bits = 4})),
        pool(2),
        net({.graph = graph, .objective = f, .codec = *coder, .transport = alone, .pool = pool}),
        x(net.field()),
        grad(net.field()),
        mirror(net, net.laplacian(), 2) {
    f.asked_elsewhere = elsewhere;
    net.begin_round(1);
    for (std::size_t row = 0; row < n; ++row)
      for (std::size_t k = 0; k < d; ++k)
        x.row(row)[k] = static_cast<float>(row) - 0.3f * static_cast<float>(k);
  }
  // The bytes that agent 0 sent, without making those that wait.
  std::uint64_t sent() { return net.AnyNetwork<float>::ledger().agents[0].payload_bytes; }
  std::vector<float> all(const Field<float>& rows) {
    std::vector<float> copy;
    for (std::size_t row = 0; row < n; ++row)
      copy.insert(copy.end(), rows.row(row).begin(), rows.row(row).end());
    return copy;
  }

  Graph graph = ring(n);
  Elsewhere f;
  std::unique_ptr<Codec<float>> coder;
  Alone alone;
  Pool pool;
  CpuNetwork<float> net;
  Field<float> x, grad;
  CpuMirror<float> mirror;
};

TEST(AskedElsewhere, MessagesAreMadeWhileTheObjectiveIsAsked) {
  World w(true), plain(false);
  w.f.look = [&] { return w.sent(); };
  w.mirror.send(w.x);
  EXPECT_EQ(w.sent(), 0u) << "it waits for the gradient";
  w.net.gradient(w.x, w.grad);
  EXPECT_EQ(w.f.before, 0u);
  EXPECT_GT(w.f.after, 0u);
  EXPECT_EQ(w.net.phases().exchange, 0) << "hidden behind the gradient";
  w.mirror.receive();

  plain.mirror.send(plain.x);
  EXPECT_EQ(plain.sent(), w.sent());
  plain.net.gradient(plain.x, plain.grad);
  plain.mirror.receive();
  EXPECT_EQ(w.all(w.mirror.own()), plain.all(plain.mirror.own()));
  EXPECT_EQ(w.all(w.grad), plain.all(plain.grad));
}

TEST(AskedElsewhere, EveryOtherVerbMakesThemFirst) {
  struct Double {
    constexpr void operator()(float& v) const { v = 2 * v; }
  };
  const auto sent_row = [](World& w) { return w.all(w.mirror.own())[0]; };
  World first(false);
  first.mirror.send(first.x);
  const float expected = sent_row(first);

  const std::vector<std::function<void(World&)>> verbs{
      [](World& w) { w.net.map(Double{}, w.x); },
      [](World& w) { w.mirror.receive(); },
      [](World& w) { (void)w.mirror.own(); },
      [](World& w) { (void)w.mirror.rows(); },
      [](World& w) { w.net.begin_round(2); },
      [](World& w) { (void)w.net.ledger(); },
      [](World& w) { (void)w.net.local_values(w.x); },
      [](World& w) { w.net.gradient(w.grad, w.x); }};  // would write what is sent
  for (std::size_t i = 0; i < verbs.size(); ++i) {
    World w(true);
    w.f.look = [&] { return w.sent(); };
    w.mirror.send(w.x);
    verbs[i](w);
    EXPECT_GT(w.sent(), 0u) << "verb " << i;
    EXPECT_EQ(w.f.before, w.f.after) << "verb " << i;
    EXPECT_EQ(sent_row(w), expected) << "verb " << i;
  }
}

TEST(AskedElsewhere, ARowThatIsNotFiniteIsRefusedAndNothingIsInFlight) {
  World w(true);
  w.x.row(3)[2] = std::numeric_limits<float>::infinity();
  w.mirror.send(w.x);
  EXPECT_THROW(w.net.gradient(w.x, w.grad), Diverged);
  EXPECT_NO_THROW(w.mirror.receive());
  w.x.row(3)[2] = 0;
  EXPECT_NO_THROW(w.mirror.send(w.x));
}

}  // namespace
}  // namespace ticopd
