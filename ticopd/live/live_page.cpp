#include "ticopd/live/live_page.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <span>
#include <thread>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/live/feed.hpp"
#include "ticopd/live/server.hpp"
#include "ticopd/live/watched_folders.hpp"
#include "ticopd/report/page.hpp"
#include "ticopd/system/library.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

constexpr auto pause = std::chrono::milliseconds(250);     // between two looks at the folders
constexpr auto patience = std::chrono::milliseconds(600);  // with clients, at the end

// 128 bits of the system's generator.
std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  for (std::size_t have = 0; have < bytes.size();) {
    const ssize_t got = ::getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  std::string token;
  for (const unsigned char b : bytes) token += fmt::format("{:02x}", b);
  return token;
}

class FeedStream final : public EventStream {
 public:
  explicit FeedStream(const Feed& feed) : feed_(feed) {}
  std::optional<std::string> next() override { return feed_.next(position_); }

 private:
  const Feed& feed_;
  Feed::Position position_;
};

class FeedPages final : public ServedPages {
 public:
  explicit FeedPages(const Feed& feed) : feed_(feed) {}
  std::string page() override { return feed_.page(); }
  std::string policy() override { return page_policy(PageKind::served); }
  std::string report() override { return feed_.report(); }
  std::unique_ptr<EventStream> events() override { return std::make_unique<FeedStream>(feed_); }

 private:
  const Feed& feed_;
};

std::unique_ptr<LocalServer> open_server(ServedPages& pages, const std::string& token, int port) {
  constexpr const char* name = "libticopd_watch.so";
  const fs::path folder = own_folder();
  void* library = nullptr;
  std::error_code error;
  for (const fs::path& place : {folder / name, folder / ".." / TICOPD_PLUGIN_DIR / name})
    if (library == nullptr && fs::exists(place, error))
      library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw UnavailableError(
        "watch: this build has no server; install cpp-httplib (Debian: libcpp-httplib-dev) and "
        "build again, or take `ticopd report`, which needs none");
  const auto version =
      reinterpret_cast<VersionOfLocalServer*>(::dlsym(library, version_of_local_server));
  const auto make = reinterpret_cast<MakeLocalServer*>(::dlsym(library, make_local_server));
  if (version == nullptr || make == nullptr || std::string_view(version()) != TICOPD_VERSION)
    throw UnavailableError(
        fmt::format("{} is of another build than this program, {}: build both from one tree", name,
                    TICOPD_VERSION));
  std::string why;
  std::unique_ptr<LocalServer> server(make(pages, token.c_str(), port, why));
  if (server == nullptr)
    throw UnavailableError(fmt::format(
        "--port {}: {}; give another port, or none: then a free one is taken", port, why));
  return server;
}

}  // namespace

struct LivePage::State {
  State(std::vector<std::string> words, int port)
      : folders(std::move(words)), token(random_token()), feed(token) {
    feed.set(folders.collection(), folders.running());
    server = open_server(*pages, token, port);
  }

  WatchedFolders folders;
  std::string token;
  Feed feed;
  std::unique_ptr<ServedPages> pages = std::make_unique<FeedPages>(feed);
  std::unique_ptr<LocalServer> server;
};

LivePage::LivePage(std::vector<std::string> folders, int port)
    : state_(std::make_shared<State>(std::move(folders), port)) {}
LivePage::~LivePage() = default;

std::string LivePage::url() const {
  return fmt::format("http://127.0.0.1:{}/?token={}", state_->server->port(), state_->token);
}

bool LivePage::serve(const std::atomic<bool>& stop) {
  std::promise<void> ended;
  const std::future<void> all_ended = ended.get_future();
  // The thread keeps the state: it may outlive this object if a client holds it.
  std::thread server([state = state_, ended = std::move(ended)]() mutable {
    state->server->serve();
    ended.set_value();
  });
  bool running = state_->folders.running();
  while (!stop) {
    std::this_thread::sleep_for(pause);
    const bool changed = state_->folders.look();
    const bool runs = state_->folders.running();
    if (changed || runs != running) state_->feed.set(state_->folders.collection(), runs);
    running = runs;
  }
  state_->feed.close();
  state_->server->stop();
  const bool done = all_ended.wait_for(patience) == std::future_status::ready;
  if (done)
    server.join();
  else
    server.detach();
  return done;
}

}  // namespace ticopd
