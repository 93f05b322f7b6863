#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "ticopd/system/descriptor.hpp"

namespace ticopd {

// Decides who may connect to the listener of a site, in a thread of its own: so handshakes are
// answered, and strangers are turned away, while the site computes. It answers ZeroMQ's question
// (ZAP) who has the key of a connection, and ends connections when strangers hold too many of them,
// which ZeroMQ itself does not limit.
class Door {
 public:
  struct Guest {
    std::string name, key;  // 32 bytes; an empty key never comes in
  };
  // `listener` is not bound yet, and outlives the door: until there is a door ZeroMQ lets everybody
  // in. UnavailableError if this process may open no more files.
  Door(zmq::context_t& context, zmq::socket_t& listener, std::vector<Guest> guests);
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  void listens_at(int port) { port_ = port; }

  // A guest's message came over this connection: it is no stranger's.
  void greet(std::size_t guest, int connection) { connections_[guest] = connection; }
  // Ends the connection of a guest.
  void show_out(std::size_t guest);

  // For a test of the door: was this key turned away?
  void expect(std::string key);
  bool turned_expected_away() const { return turned_away_; }
  // Connections that were not let in: of a key that is no guest's, without a key, idle, or too many.
  std::uint64_t refused() const { return refused_; }

 private:
  void work();
  bool answer();
  bool take_note();
  void end_surplus();
  bool is_guest(int connection) const;
  void end(int connection) const;
  std::string name_of(std::string_view key);

  zmq::socket_t& listener_;
  zmq::socket_t questions_, events_;
  std::vector<Guest> guests_;
  std::vector<std::atomic<int>> connections_;  // by guest; -1: none
  std::vector<int> open_;  // connections that were accepted, without those that were ended
  std::mutex expecting_;
  std::string expected_;
  std::atomic<bool> turned_away_ = false, stop_ = false;
  std::atomic<std::uint64_t> refused_ = 0;
  std::atomic<int> port_ = 0;
  std::uint32_t dice_ = 1;
  Descriptor bell_;
  std::thread thread_;
};

}  // namespace ticopd
