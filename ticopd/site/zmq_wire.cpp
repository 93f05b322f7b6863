// The sockets of a site: libticopd_zmq.so. Only this file, its sockets and the door know ZeroMQ.
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <thread>
#include <utility>
#include <zmq.hpp>

#include "ticopd/error.hpp"
#include "ticopd/site/site_wire.hpp"
#include "ticopd/site/zmq_door.hpp"
#include "ticopd/site/zmq_sockets.hpp"

namespace ticopd {
namespace {

constexpr std::size_t most_waiting = 16 << 20;  // bytes to a site that its socket does not take yet
constexpr Time silence = 15 * one_second;       // then a connection is made anew
constexpr Time self_test = 10 * one_second;     // at most; a busy machine takes its time
constexpr int self_tests = 3;
constexpr int most_odd = 16;                     // odd messages, then their connection is ended
constexpr Time full_socket = one_second / 1000;  // until it is tried again

Time now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class ZmqWire final : public SiteWire {
 public:
  explicit ZmqWire(const WireSettings& settings) : settings_(settings) {
    const std::size_t count = settings.sites.size();
    counts_.sent.resize(count);
    counts_.received.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const WirePeer& other = settings.sites[i];
      const bool later = static_cast<int>(i) > settings.own;
      const bool mine_has_address = !own().address.empty();
      peers_.push_back({});
      peers_[i].neighbour = other.neighbour && static_cast<int>(i) != settings.own;
      peers_[i].dialled = later ? !other.address.empty() : !mine_has_address;
    }
    if (!settings.listen.empty()) listen();
    for (std::size_t i = 0; i < count; ++i)
      if (peers_[i].neighbour && peers_[i].dialled) dial(i);
  }

  void send(int site, Bytes message) override {
    if (message.size() > static_cast<std::size_t>(largest_message))
      throw std::logic_error("ZmqWire::send: a message that no site takes");
    Peer& peer = peers_.at(static_cast<std::size_t>(site));
    if (!peer.neighbour) return;
    if (peer.waiting_bytes + message.size() > most_waiting) return;  // will be sent again
    peer.waiting_bytes += message.size();
    peer.waiting.push_back(owning(std::move(message)));
    flush(static_cast<std::size_t>(site));
  }

  std::optional<Arrived> receive(Time until) override {
    for (;;) {
      for (std::size_t i = 0; i < peers_.size(); ++i) {
        if (peers_[i].neighbour && peers_[i].dialled && now() > peers_[i].heard + silence) dial(i);
        flush(i);
      }
      if (auto arrived = take()) return arrived;
      const Time at = now();
      if (at >= until || !wait(until - at)) return std::nullopt;
    }
  }

  // What came last from there could not be read.
  void odd(int site) override {
    const auto i = static_cast<std::size_t>(site);
    if (++peers_.at(i).odd < most_odd) return;
    ++counts_.cut_off;
    peers_[i].odd = 0;
    if (peers_[i].dealer) dial(i);
    if (door_) door_->show_out(i);
  }

  const WireCounts& counts() const override {
    if (door_) counts_.refused = door_->refused();
    return counts_;
  }

 private:
  struct Peer {
    bool neighbour = false;
    bool dialled = false;                      // by us; else the other one connects
    std::optional<zmq::socket_t> dealer = {};  // if so
    std::optional<zmq::message_t> route = {};  // else: the connection that it has now
    std::deque<zmq::message_t> waiting = {};   // for the socket
    std::size_t waiting_bytes = 0;
    Time heard = 0;
    int odd = 0;  // messages of this connection
  };

  const WirePeer& own() const { return settings_.sites[static_cast<std::size_t>(settings_.own)]; }

  void listen() {
    listener_.emplace(context_, zmq::socket_type::router);
    prepare(*listener_, settings_.listen);
    listener_->set(zmq::sockopt::router_mandatory, true);
    listener_->set(zmq::sockopt::curve_server, true);
    listener_->set(zmq::sockopt::curve_secretkey, zmq::buffer(settings_.secret));
    listener_->set(zmq::sockopt::zap_domain, "ticopd");
    std::vector<Door::Guest> guests;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      const bool may_come = peers_[i].neighbour && !peers_[i].dialled;
      guests.push_back({settings_.sites[i].name, may_come ? settings_.sites[i].key : ""});
    }
    door_.emplace(context_, *listener_, std::move(guests));
    try {
      listener_->bind("tcp://" + settings_.listen);
    } catch (const zmq::error_t& e) {
      throw UnavailableError(settings_.listen + ": cannot listen there: " +
                             (e.num() == EADDRINUSE ? "another program has this port" : e.what()));
    }
    test_listener();
  }

  // CURVE alone lets everybody in. So a stranger knocks, and must be turned away.
  void test_listener() {
    using namespace std::chrono_literals;
    std::array<char, 41> key{}, secret{};
    if (zmq_curve_keypair(key.data(), secret.data()) != 0)
      throw UnavailableError("this ZeroMQ was built without CURVE");
    std::string end = listener_->get(zmq::sockopt::last_endpoint);
    end = end.substr(std::strlen("tcp://"));
    door_->listens_at(std::stoi(end.substr(end.rfind(':') + 1)));
    std::array<unsigned char, 32> raw{};
    const auto binary = [&](const char* text) {
      zmq_z85_decode(raw.data(), text);
      return std::string(raw.begin(), raw.end());
    };
    door_->expect(binary(key.data()));
    for (int tries = 0; tries < self_tests; ++tries) {
      zmq::socket_t stranger = dealer_to(context_, end, own().key, binary(key.data()),
                                         binary(secret.data()), /*again=*/false);
      for (const Time last = now() + self_test; now() < last; std::this_thread::sleep_for(20ms))
        if (door_->turned_expected_away()) return;
    }
    throw UnavailableError(settings_.listen +
                           ": the listener did not turn a stranger away; it is not safe to use");
  }

  // The connection is made anew after some silence: then its name is looked up again, too.
  void dial(std::size_t i) {
    const WirePeer& other = settings_.sites[i];
    peers_[i].dealer.reset();
    peers_[i].heard = now();
    try {
      peers_[i].dealer = dealer_to(context_, other.address, other.key, own().key, settings_.secret);
    } catch (const zmq::error_t& e) {
      if (e.num() != EMFILE && e.num() != ENFILE) throw;  // else there may be files again later
    }
  }

  void flush(std::size_t i) {
    Peer& peer = peers_[i];
    while (!peer.waiting.empty()) {
      zmq::message_t& body = peer.waiting.front();
      const std::size_t size = body.size();
      if (peer.dealer) {
        if (!peer.dealer->send(body, zmq::send_flags::dontwait)) return;
      } else if (peer.route) {
        try {
          const zmq::const_buffer to(peer.route->data(), peer.route->size());
          constexpr auto first = zmq::send_flags::sndmore | zmq::send_flags::dontwait;
          if (!listener_->send(to, first)) return;
          if (!listener_->send(body, zmq::send_flags::dontwait)) return;
        } catch (const zmq::error_t&) {  // the connection is gone
          peer.route.reset();
          peer.waiting.clear();
          peer.waiting_bytes = 0;
          return;
        }
      } else {  // it will connect and say hello
        return;
      }
      counts_.sent[i] += size;
      peer.waiting_bytes -= size;
      peer.waiting.pop_front();
    }
  }

  // The next message of any socket, each in its turn.
  std::optional<Arrived> take() {
    const std::size_t sockets = peers_.size() + 1;
    for (std::size_t tried = 0; tried < sockets; ++tried) {
      const std::size_t i = turn_++ % sockets;
      if (auto arrived = i < peers_.size() ? from_dealer(i) : from_listener()) return arrived;
    }
    return std::nullopt;
  }

  std::optional<Arrived> from_dealer(std::size_t i) {
    while (peers_[i].dealer) {
      zmq::message_t body;
      if (!peers_[i].dealer->recv(body, zmq::recv_flags::dontwait)) break;
      if (alone(*peers_[i].dealer, body)) return arrived_from(i, std::move(body));
      ++counts_.dropped;
      odd(static_cast<int>(i));
    }
    return std::nullopt;
  }

  std::optional<Arrived> from_listener() {
    while (listener_) {
      zmq::message_t route, body;
      if (!listener_->recv(route, zmq::recv_flags::dontwait)) break;
      if (!route.more() || !listener_->recv(body, zmq::recv_flags::dontwait)) {
        ++counts_.dropped;
        continue;
      }
      const std::optional<std::size_t> from = sender_of(body);
      const int connection = zmq_msg_get(body.handle(), ZMQ_SRCFD);
      const bool whole = alone(*listener_, body);
      if (!from || !whole) ++counts_.dropped;
      if (!from) continue;
      door_->greet(*from, connection);
      if (!whole) {
        odd(static_cast<int>(*from));
        continue;
      }
      peers_[*from].route = std::move(route);
      return arrived_from(*from, std::move(body));
    }
    return std::nullopt;
  }

  // Which neighbour sent it: by the key of its connection, which the ZAP handler has seen. Without
  // the handler there would be no such property.
  std::optional<std::size_t> sender_of(zmq::message_t& body) const {
    const char* const name = zmq_msg_gets(body.handle(), "User-Id");
    for (std::size_t i = 0; name != nullptr && i < peers_.size(); ++i)
      if (peers_[i].neighbour && !peers_[i].dialled && settings_.sites[i].name == name) return i;
    return std::nullopt;
  }

  // False for a message with more parts, which are drained: sites send none.
  static bool alone(zmq::socket_t& socket, zmq::message_t& body) {
    if (!body.more()) return true;
    zmq::message_t rest;
    do {
      if (!socket.recv(rest, zmq::recv_flags::dontwait)) break;
    } while (rest.more());
    return false;
  }

  // ZeroMQ's own buffer goes on.
  Arrived arrived_from(std::size_t i, zmq::message_t body) {
    peers_[i].heard = now();
    counts_.received[i] += body.size();
    const auto kept = std::make_shared<const zmq::message_t>(std::move(body));
    return {static_cast<int>(i), {kept, {kept->data<std::byte>(), kept->size()}}};
  }

  // Until a socket has something, or so much time has passed. False after a signal.
  //
  // The descriptor of a socket tells of what came since the socket was last asked, and take() has
  // asked them all: so one call of the system is enough, where zmq::poll makes several. If take()
  // noticed by the way that a full socket has room again, its descriptor is silent.
  bool wait(Time most) {
    most = std::min(most, one_second);  // a silent connection is made anew
    polled_.clear();
    if (listener_) polled_.push_back({listener_->get(zmq::sockopt::fd), POLLIN, 0});
    for (Peer& peer : peers_) {
      // A router is always ready to be written to, so its full connections are tried again soon.
      if (!peer.dealer && !peer.waiting.empty()) most = std::min(most, full_socket);
      if (!peer.dealer) continue;
      if (!peer.waiting.empty() &&
          (peer.dealer->get(zmq::sockopt::events) & (ZMQ_POLLIN | ZMQ_POLLOUT)) != 0)
        return true;
      polled_.push_back({peer.dealer->get(zmq::sockopt::fd), POLLIN, 0});
    }
    const timespec time{.tv_sec = most / one_second, .tv_nsec = most % one_second};
    return ::ppoll(polled_.data(), polled_.size(), &time, nullptr) >= 0;
  }

  WireSettings settings_;
  zmq::context_t context_{1};
  std::optional<zmq::socket_t> listener_;
  std::optional<Door> door_;  // of the listener
  std::vector<Peer> peers_;
  std::size_t turn_ = 0;
  std::vector<pollfd> polled_;
  mutable WireCounts counts_;
};

}  // namespace
}  // namespace ticopd

extern "C" {

const char* ticopd_zmq_version() {
  return TICOPD_VERSION;
}

ticopd::SiteWire* ticopd_zmq_wire(const ticopd::WireSettings& settings) {
  if (!settings.listen.empty()) ticopd::have_files();
  try {
    return new ticopd::ZmqWire(settings);
  } catch (const zmq::error_t& e) {
    throw ticopd::UnavailableError(std::string("ZeroMQ cannot open a connection: ") + e.what());
  }
}
}
