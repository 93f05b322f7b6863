// libticopd_watch.so: the server of `ticopd watch`, over cpp-httplib.
#include <httplib.h>
#include <sys/socket.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "ticopd/live/server.hpp"

namespace ticopd {
namespace {

constexpr int most_streams = 24;   // clients that listen to events
constexpr int most_requests = 32;  // that are served at once, streams included
constexpr int most_waiting = 32;   // connections that no thread has taken yet

// A pool that takes no more connections than it can serve soon: the others wait in the system's
// queue, which is short.
class BoundedPool final : public httplib::ThreadPool {
 public:
  BoundedPool() : ThreadPool(most_requests) {}

  void enqueue(std::function<void()> work) override {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return waiting_ < most_waiting; });
    ++waiting_;
    lock.unlock();
    ThreadPool::enqueue([this, work = std::move(work)] {
      {
        const std::lock_guard begun(mutex_);
        --waiting_;
      }
      room_.notify_one();
      work();
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable room_;
  int waiting_ = 0;
};

// The time does not tell how much of the token was right.
bool same_text(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  int different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different |= a[i] ^ b[i];
  return different == 0;
}

class HttpServer final : public LocalServer {
 public:
  HttpServer(ServedPages& pages, std::string token) : pages_(pages), token_(std::move(token)) {
    server_.new_task_queue = [] { return new BoundedPool; };
    // Without SO_REUSEPORT, which would let a second server share the port.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.set_keep_alive_max_count(1);  // an idle connection would keep a thread
    server_.set_keep_alive_timeout(2);
    server_.set_read_timeout(5);
    server_.set_write_timeout(10);
    server_.set_payload_max_length(0);
    std::string policy = pages_.policy();
    if (policy.empty()) policy = "default-src 'none'; connect-src 'self'";
    server_.set_default_headers(
        {{"Content-Security-Policy",
          policy + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
         {"X-Content-Type-Options", "nosniff"},
         {"X-Frame-Options", "DENY"},
         {"Referrer-Policy", "no-referrer"},
         {"Cross-Origin-Resource-Policy", "same-origin"},
         {"Cross-Origin-Opener-Policy", "same-origin"},
         {"Cache-Control", "no-store"}});
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& answer) {
          return answer_or_refuse(request, answer);
        });
  }

  bool bind(int port, std::string& why) {
    errno = 0;
    port_ = port == 0                                 ? server_.bind_to_any_port("127.0.0.1")
            : server_.bind_to_port("127.0.0.1", port) ? port
                                                      : -1;
    why = errno != 0 ? std::strerror(errno) : "it cannot be bound";
    return port_ > 0;
  }

  int port() const override { return port_; }
  void serve() override { server_.listen_after_bind(); }
  void stop() override { server_.stop(); }

 private:
  using Response = httplib::Response;
  using Handled = httplib::Server::HandlerResponse;

  static Handled refuse(Response& answer, int status, const std::string& why) {
    answer.status = status;
    answer.set_content(why + "\n", "text/plain; charset=utf-8");
    return Handled::Handled;
  }

  // A page of another origin that makes a browser ask us names its own host (DNS rebinding).
  bool our_host(const httplib::Request& request) const {
    if (request.get_header_value_count("Host") != 1) return false;
    const std::string host = request.get_header_value("Host"), port = std::to_string(port_);
    for (const std::string name : {"127.0.0.1", "localhost"})
      if (host == name + ":" + port || (port_ == 80 && host == name)) return true;
    return false;
  }

  // All requests end here: nothing looks at files.
  Handled answer_or_refuse(const httplib::Request& request, Response& answer) {
    if (request.method != "GET" && request.method != "HEAD") {
      answer.set_header("Allow", "GET, HEAD");
      return refuse(answer, 405, "read only: GET and HEAD are allowed");
    }
    if (!our_host(request)) return refuse(answer, 403, "this host is not served here");
    if (!same_text(request.get_param_value("token"), token_))
      return refuse(answer, 403, "the token is missing or wrong; take the URL that was printed");
    if (request.path == "/") return send(answer, pages_.page(), "text/html; charset=utf-8");
    if (request.path == "/report.json") return send(answer, pages_.report(), "application/json");
    if (request.path == "/events") return send_events(answer);
    return refuse(answer, 404, "there is no such page");
  }

  static Handled send(Response& answer, const std::string& text, const char* type) {
    if (text.empty()) return refuse(answer, 404, "the page is not in this build (npm was missing)");
    answer.status = 200;
    answer.set_content(text, type);
    return Handled::Handled;
  }

  Handled send_events(Response& answer) {
    if (streams_.fetch_add(1) >= most_streams) {
      --streams_;
      answer.set_header("Retry-After", "5");
      return refuse(answer, 503, "too many pages listen already");
    }
    answer.status = 200;
    answer.set_chunked_content_provider(
        "text/event-stream",
        [stream = std::shared_ptr(pages_.events())](std::size_t, httplib::DataSink& sink) {
          const std::optional<std::string> text = stream->next();
          if (!text) sink.done();
          return !text || text->empty() || sink.write(text->data(), text->size());
        },
        [this](bool) { --streams_; });
    return Handled::Handled;
  }

  ServedPages& pages_;
  std::string token_;
  httplib::Server server_;
  int port_ = 0;
  std::atomic<int> streams_ = 0;
};

}  // namespace
}  // namespace ticopd

extern "C" {

const char* ticopd_local_server_version() {
  return TICOPD_VERSION;
}

ticopd::LocalServer* ticopd_make_local_server(ticopd::ServedPages& pages, const char* token,
                                              int port, std::string& why) {
  auto server = std::make_unique<ticopd::HttpServer>(pages, token);
  return server->bind(port, why) ? server.release() : nullptr;
}
}
