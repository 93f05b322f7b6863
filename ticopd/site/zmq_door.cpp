#include "ticopd/site/zmq_door.hpp"

#include <netinet/in.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

constexpr const char* questions_at = "inproc://zeromq.zap.01";
constexpr const char* events_at = "inproc://ticopd.door";
constexpr int watched = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED |
                        ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;
// Connections without a guest's message, at most. Each may make ZeroMQ hold one largest message.
constexpr std::size_t most_strangers = 64;

std::string_view text_of(const zmq::message_t& m) {
  return {m.data<char>(), m.size()};
}

std::vector<zmq::message_t> parts_of_next(zmq::socket_t& s) {
  std::vector<zmq::message_t> parts;
  for (zmq::message_t part; s.recv(part, zmq::recv_flags::dontwait);) {
    const bool more = part.more();
    parts.push_back(std::move(part));
    if (!more) break;
  }
  return parts;
}

}  // namespace

Door::Door(zmq::context_t& context, zmq::socket_t& listener, std::vector<Guest> guests)
    : listener_(listener),
      questions_(context, zmq::socket_type::rep),
      events_(context, zmq::socket_type::pair),
      guests_(std::move(guests)),
      connections_(guests_.size()),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (bell_.get() < 0) throw UnavailableError("this process may open no more files");
  for (std::atomic<int>& c : connections_) c = -1;
  questions_.set(zmq::sockopt::linger, 0);
  questions_.bind(questions_at);
  // ZeroMQ's thread waits when its notes are not read, so it is never far ahead of this one: the
  // number of strangers stays bounded while this thread has no processor.
  events_.set(zmq::sockopt::rcvhwm, 1);
  events_.set(zmq::sockopt::linger, 0);
  if (zmq_socket_monitor(listener.handle(), events_at, watched) != 0) throw zmq::error_t();
  events_.connect(events_at);
  // Signals are for the thread that computes: they end its waiting.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// ZeroMQ's thread would wait for ever to leave a note that nobody reads, so the notes end first.
Door::~Door() {
  zmq_socket_monitor(listener_.handle(), nullptr, 0);
  stop_ = true;
  const std::uint64_t ring = 1;
  [[maybe_unused]] const ssize_t wrote = ::write(bell_.get(), &ring, sizeof ring);
  thread_.join();
}

void Door::expect(std::string key) {
  const std::lock_guard lock(expecting_);
  expected_ = std::move(key);
}

void Door::work() {
  std::vector<zmq::pollitem_t> items{{questions_.handle(), 0, ZMQ_POLLIN, 0},
                                     {events_.handle(), 0, ZMQ_POLLIN, 0},
                                     {nullptr, bell_.get(), ZMQ_POLLIN, 0}};
  while (!stop_) {
    zmq::poll(items, std::chrono::milliseconds(-1));
    while (answer()) {
    }
    while (take_note()) {
    }
    end_surplus();
  }
}

// The listener asks: who has this key? The answer is the name of the guest who has it, or 300, "not
// now": after 400 a site that comes too early would never try again.
bool Door::answer() {
  const std::vector<zmq::message_t> parts = parts_of_next(questions_);
  if (parts.empty()) return false;
  const std::string name = parts.size() == 7 && text_of(parts[5]) == "CURVE"
                               ? name_of(text_of(parts[6]))
                               : std::string();
  const std::array<std::string, 6> answer{"1.0",
                                          parts.size() > 1 ? parts[1].to_string() : "",
                                          name.empty() ? "300" : "200",
                                          name.empty() ? "not in the roster" : "",
                                          name,
                                          ""};
  for (std::size_t i = 0; i < answer.size(); ++i)
    questions_.send(zmq::buffer(answer[i]),
                    i + 1 < answer.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
  return true;
}

// Empty: nobody has it.
std::string Door::name_of(std::string_view key) {
  const std::lock_guard lock(expecting_);
  for (const Guest& g : guests_)
    if (!g.key.empty() && g.key == key) return g.name;
  if (key == expected_)
    turned_away_ = true;
  else
    ++refused_;
  return {};
}

// What ZeroMQ says of a connection: the event, and mostly which connection.
bool Door::take_note() {
  const std::vector<zmq::message_t> parts = parts_of_next(events_);
  if (parts.empty()) return false;
  std::uint16_t event = 0;
  std::int32_t value = 0;
  if (parts[0].size() != sizeof event + sizeof value) return true;
  std::memcpy(&event, parts[0].data<char>(), sizeof event);
  std::memcpy(&value, parts[0].data<char>() + sizeof event, sizeof value);
  if (event == ZMQ_EVENT_ACCEPTED) {
    open_.push_back(value);
  } else if (event == ZMQ_EVENT_DISCONNECTED) {
    std::erase(open_, value);
  } else {
    ++refused_;
  }
  return true;
}

// One of the strangers at random: if it were the oldest, a flood would end each neighbour's
// connection before its handshake is over.
void Door::end_surplus() {
  while (open_.size() > most_strangers) {
    const auto strangers =
        std::partition(open_.begin(), open_.end(), [&](int c) { return is_guest(c); });
    const auto count = static_cast<std::size_t>(open_.end() - strangers);
    if (count <= most_strangers) return;
    dice_ = dice_ * 1664525 + 1013904223;
    const auto one = strangers + static_cast<std::ptrdiff_t>((dice_ >> 8) % count);
    end(*one);
    open_.erase(one);
  }
}

bool Door::is_guest(int connection) const {
  return std::ranges::any_of(connections_, [&](const auto& c) { return c == connection; });
}

void Door::show_out(std::size_t guest) {
  if (const int c = connections_[guest].exchange(-1); c >= 0) end(c);
}

// ZeroMQ's thread owns the connection, and closes it when it finds it ended. By now the number may
// belong to something else: only connections to our port are touched, and neighbours come back.
void Door::end(int connection) const {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  if (::getsockname(connection, reinterpret_cast<sockaddr*>(&at), &size) != 0) return;
  const int port = at.ss_family == AF_INET    ? ntohs(reinterpret_cast<sockaddr_in&>(at).sin_port)
                   : at.ss_family == AF_INET6 ? ntohs(reinterpret_cast<sockaddr_in6&>(at).sin6_port)
                                              : 0;
  if (port != 0 && port == port_) ::shutdown(connection, SHUT_RDWR);
}

}  // namespace ticopd
