#pragma once

#include <memory>
#include <optional>
#include <string>

// What the program and libticopd_watch.so share. The server is a library of its own, which is
// opened only by `ticopd watch`: no other command needs what an HTTP library brings with it.
namespace ticopd {

// One client's stream of events.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // The next text to send; waits for it, but not long, and may be empty. Nothing: it has ended.
  virtual std::optional<std::string> next() = 0;
};

// What the server serves. Called by many threads at once.
class ServedPages {
 public:
  virtual ~ServedPages() = default;
  virtual std::string page() = 0;    // HTML
  virtual std::string policy() = 0;  // its content security policy
  virtual std::string report() = 0;  // JSON
  virtual std::unique_ptr<EventStream> events() = 0;
};

// Serves pages to this machine alone, read only, to whoever knows the token.
class LocalServer {
 public:
  virtual ~LocalServer() = default;
  virtual int port() const = 0;
  virtual void serve() = 0;  // until stop()
  virtual void stop() = 0;   // from any thread
};

// The entry points of libticopd_watch.so. `make`: port 0 takes a free one; null and `why` if the
// port cannot be had.
using MakeLocalServer = LocalServer*(ServedPages& pages, const char* token, int port,
                                     std::string& why);
inline constexpr const char* make_local_server = "ticopd_make_local_server";
using VersionOfLocalServer = const char*();
inline constexpr const char* version_of_local_server = "ticopd_local_server_version";

}  // namespace ticopd
