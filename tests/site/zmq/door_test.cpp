// The door of a listener by itself: how many connections of strangers it leaves.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "site/zmq/knock.hpp"
#include "ticopd/site/zmq_door.hpp"
#include "ticopd/system/descriptor.hpp"

namespace ticopd {
namespace {

constexpr int strangers = 300, may_stay = 64;

// A listener that itself waits for ever for a handshake: only the door ends connections.
struct Guarded {
  Guarded() {
    listener.set(zmq::sockopt::handshake_ivl, 0);
    listener.set(zmq::sockopt::linger, 0);
    listener.bind("tcp://127.0.0.1:*");
    const std::string end = listener.get(zmq::sockopt::last_endpoint);
    port = std::stoi(end.substr(end.rfind(':') + 1));
    door.listens_at(port);
  }
  zmq::context_t context;
  zmq::socket_t listener{context, zmq::socket_type::router};
  Door door{context, listener, {}};
  int port = 0;
};

// Nothing to read is no end; the greeting of the listener is none either.
bool is_open(const Descriptor& fd) {
  std::array<char, 256> bytes{};
  ssize_t got = 0;
  while ((got = ::recv(fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0) {
  }
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

TEST(Door, LeavesSixtyFourStrangersAndEndsTheOthers) {
  Guarded guarded;
  std::vector<Descriptor> all;
  for (int i = 0; i < may_stay; ++i) all.push_back(knock(guarded.port));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(std::ranges::count_if(all, is_open), may_stay) << "so many may be there";
  while (all.size() < strangers) all.push_back(knock(guarded.port));
  std::ptrdiff_t open = strangers;
  for (int tries = 0; tries < 300 && open > may_stay; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    open = std::ranges::count_if(all, is_open);
  }
  EXPECT_EQ(open, may_stay);
}

}  // namespace
}  // namespace ticopd
