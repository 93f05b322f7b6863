#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace ticopd {

// A live report of run folders on 127.0.0.1, for whoever has its URL: the token in it is random.
class LivePage {
 public:
  // Folders as `ticopd report` takes them; port 0: a free one. FormatError, ConfigError;
  // UnavailableError if the port is taken or this build cannot serve.
  LivePage(std::vector<std::string> folders, int port);
  ~LivePage();
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

  std::string url() const;
  // Serves until `stop` is set. True if all connections ended soon after; false if a client that
  // does not read is still waited for by a thread of this process.
  bool serve(const std::atomic<bool>& stop);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ticopd
