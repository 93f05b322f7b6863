#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ticopd/bytes.hpp"
#include "ticopd/site/shared_bytes.hpp"

// All that a site asks of the world: messages, files and time. A machine gives it sockets, a folder
// and a clock; the simulator gives it virtual ones, and then any fault can be had at any moment.
namespace ticopd {

// Nanoseconds on a clock that never goes back. Whole numbers, so that a simulated run does not
// depend on the compiler's arithmetic.
using Time = std::int64_t;
inline constexpr Time one_second = 1'000'000'000;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() = 0;
  virtual std::uint64_t random() = 0;  // 64 bits that no other process draws
};

// Messages between sites, each of at most some hundred kilobytes. The wire may lose a message,
// deliver it twice, late, or in another order; it does not change one unnoticed.
class Wire {
 public:
  virtual ~Wire() = default;
  virtual void send(int site, Bytes message) = 0;  // never waits

  struct Arrived {
    int site;
    SharedBytes message;
  };
  // The next message; waits for it until then. Empty: none came.
  virtual std::optional<Arrived> receive(Time until) = 0;
  // The last message from there cannot be read. Again and again: its connection may be ended.
  virtual void odd(int site) { static_cast<void>(site); }
};

// The files of one folder. A file is on the disk after `sync`, its name after `sync_folder`; a
// failed call throws DiskError.
class Store {
 public:
  virtual ~Store() = default;
  virtual std::vector<std::string> list() = 0;
  virtual Bytes read(const std::string& file) = 0;
  virtual void write(const std::string& file, std::span<const std::byte> bytes) = 0;  // a new file
  virtual void sync(const std::string& file) = 0;
  virtual void rename(const std::string& from, const std::string& to) = 0;
  virtual void remove(const std::string& file) = 0;
  virtual void sync_folder() = 0;
};

struct World {
  Clock& clock;
  Wire& wire;
  Store& store;
};

}  // namespace ticopd
