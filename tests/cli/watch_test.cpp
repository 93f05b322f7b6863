// `ticopd watch`: real servers, clients and runs.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <csignal>

#include "cli/program.hpp"

namespace ticopd {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr auto soon = std::chrono::seconds(20);  // on a busy machine

// A connection to the server, as bytes.
class Connection {
 public:
  explicit Connection(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    open_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    const timeval patience{.tv_sec = 0, .tv_usec = 100'000};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(socket_); }

  bool open() const { return open_; }
  void send(const std::string& text) const {
    EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // More bytes, or none if there are none now. Closed: open() is false afterwards.
  std::string receive() {
    std::string bytes(1 << 16, '\0');
    const ssize_t got = ::recv(socket_, bytes.data(), bytes.size(), 0);
    if (got == 0) open_ = false;
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return bytes;
  }

 private:
  int socket_;
  bool open_ = false;
};

// A page that listens to events, as a browser does.
class Listener {
 public:
  Listener(int port, const std::string& token) : connection_(port) {
    connection_.send("GET /events?token=" + token +
                     " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n\r\n");
  }

  // Reads events until one satisfies the condition.
  template <class Condition>
  bool until(Condition&& condition) {
    for (const auto end = Clock::now() + soon; Clock::now() < end && !refused;) {
      if (!connection_.open()) return false;
      bytes_ += connection_.receive();
      for (std::size_t at; (at = unchunked().find("\n\n")) != std::string::npos;) {
        const std::string event = text_.substr(0, at);
        text_.erase(0, at + 2);
        take(event);
        if (condition(*this)) return true;
      }
    }
    return false;
  }

  std::string last;  // the name of the last event
  json report;       // of the last `report`, with all rows since
  std::size_t reports = 0, rows = 0, ends = 0;
  bool refused = false;  // by the server, at once
  bool gap = false;      // rows that did not follow those we have

  json run(std::size_t index) const { return report.at("runs").at(index); }
  std::size_t rows_of(std::size_t index) const { return run(index)["metrics"][0].size(); }

 private:
  void take(const std::string& event) {
    if (event.starts_with(":")) return;
    const std::size_t data = event.find("\ndata: ");
    ASSERT_TRUE(event.starts_with("event: ") && data != std::string::npos) << event.substr(0, 99);
    EXPECT_EQ(event.find('<'), std::string::npos);
    last = event.substr(7, data - 7);
    const json value = json::parse(event.substr(data + 7));
    reports += last == "report";
    rows += last == "rows";
    ends += last == "end";
    if (last == "report") report = value;
    if (last == "sites") report["sites"] = value;
    if (last != "rows") return;
    json& mine = report["runs"][value["run"].get<std::size_t>()];
    gap = gap || mine["metrics"][0].size() != value["from"];
    for (std::size_t c = 0; c < value["metrics"].size(); ++c)
      for (const json& cell : value["metrics"][c]) mine["metrics"][c].push_back(cell);
    mine["status"] = value["status"];
    mine["iterations"] = value["iterations"];
  }

  // Strips the head and the chunks of HTTP/1.1 from what came.
  const std::string& unchunked() {
    if (!begun_) {
      const std::size_t head = bytes_.find("\r\n\r\n");
      if (head == std::string::npos) return text_;
      refused = bytes_.find("200 OK") == std::string::npos;
      if (refused) return text_;
      bytes_.erase(0, head + 4);
      begun_ = true;
    }
    for (std::size_t line; (line = bytes_.find("\r\n")) != std::string::npos;) {
      const std::size_t length = std::stoul(bytes_.substr(0, line), nullptr, 16);
      if (bytes_.size() < line + 4 + length) break;
      text_ += bytes_.substr(line + 2, length);
      bytes_.erase(0, line + 4 + length);
    }
    return text_;
  }

  Connection connection_;
  std::string bytes_, text_;
  bool begun_ = false;
};

class Watch : public CommandLine {
 protected:
  // A server and the URL it printed.
  struct Server {
    Server(const std::filesystem::path& folder, const Arguments& words, const std::string& out)
        : program(folder, with(words), {}, [file = folder / out] {
            ::dup2(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
          }) {
      for (const auto end = Clock::now() + soon; Clock::now() < end && !program.ended();) {
        const std::string text =
            std::filesystem::exists(folder / out) ? read_text(folder / out) : std::string();
        if (text.find("Ctrl-C") == std::string::npos) {
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          continue;
        }
        url = lines_of(text)[0];
        port = std::stoi(url.substr(url.rfind(':') + 1));
        token = url.substr(url.find("token=") + 6);
        return;
      }
    }
    static Arguments with(const Arguments& words) {
      Arguments all{"watch", "--no-browser"};
      all.insert(all.end(), words.begin(), words.end());
      return all;
    }
    Program program;
    std::string url, token;
    int port = 0;
  };

  void SetUp() override {
    CommandLine::SetUp();
    const Outcome o = ticopd({"watch", "--help"});
    ASSERT_EQ(o.code, 0);
    const auto beside = std::filesystem::path(places::binary()).parent_path();
    if (!std::filesystem::exists(beside / "libticopd_watch.so"))
      GTEST_SKIP() << "this build has no cpp-httplib";
  }

  // The answer to a request: status line, headers and body.
  static std::string answer(int port, const std::string& request) {
    Connection c(port);
    c.send(request);
    std::string all;
    for (const auto end = Clock::now() + soon; Clock::now() < end && c.open();) all += c.receive();
    return all;
  }
  static std::string get(const Server& s, const std::string& path, const std::string& host = "",
                         const std::string& method = "GET") {
    return answer(s.port, method + " " + path + " HTTP/1.1\r\nHost: " +
                              (host.empty() ? "127.0.0.1:" + std::to_string(s.port) : host) +
                              "\r\n\r\n");
  }
  static int status(const std::string& answer) {
    return answer.size() > 12 ? std::stoi(answer.substr(9, 3)) : 0;
  }

  Arguments long_run(const std::string& out) const {
    return {"run",   "small.toml",         "--quiet", "--out", out, "--set", "log.every=500",
            "--set", "iterations=90000000"};
  }
};

TEST_F(Watch, AnswersOnlyWhoKnowsTokenAndHostAndOnlyReads) {
  run("out");
  const Server s(folder_, {"out"}, "url");
  ASSERT_GT(s.port, 0);
  EXPECT_EQ(s.token.size(), 32u);
  const std::string page = "/?token=" + s.token, port = std::to_string(s.port);
  EXPECT_EQ(status(get(s, page)), 200);
  EXPECT_EQ(status(get(s, page, "localhost:" + port)), 200);
  EXPECT_EQ(status(get(s, page, "", "HEAD")), 200);
  EXPECT_EQ(status(get(s, "/report.json?token=" + s.token)), 200);
  for (const std::string path : {"/", "/?token=", "/?token=1", "/report.json", "/events", "/x"})
    EXPECT_EQ(status(get(s, path)), 403) << path;
  std::string wrong = s.token;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  EXPECT_EQ(status(get(s, "/?token=" + wrong)), 403);
  EXPECT_EQ(status(get(s, page + "0")), 403);
  for (const std::string& host :
       {std::string("evil.example"), "evil.example:" + port, std::string("localhost"),
        "127.0.0.1:1" + port, "localhost:" + port + ".evil.example", std::string("[::1]:1")})
    EXPECT_EQ(status(get(s, page, host)), 403) << host;
  EXPECT_EQ(status(answer(s.port, "GET " + page + " HTTP/1.0\r\n\r\n")), 403);
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"})
    EXPECT_EQ(status(get(s, page, "", method)), 405) << method;
  for (const std::string path :
       {"/../out/run.json", "/out/run.json", "/%2e%2e/small.toml", "//", "/out/", "/report.html"})
    EXPECT_EQ(status(get(s, path + "?token=" + s.token)), 404) << path;
  EXPECT_GE(status(answer(s.port, "nonsense\r\n\r\n")), 400);
}

TEST_F(Watch, SendsHeadersThatKeepOthersOut) {
  run("out");
  const Server s(folder_, {"out"}, "url");
  const std::string page = get(s, "/?token=" + s.token);
  const std::string head = page.substr(0, page.find("\r\n\r\n"));
  for (const char* header :
       {"connect-src 'self'", "default-src 'none'", "frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "no-store"})
    EXPECT_NE(head.find(header), std::string::npos) << header << " is not in\n" << head;
  EXPECT_EQ(head.find("Access-Control"), std::string::npos);
  EXPECT_NE(page.find("\"live\":{\"events\":\"events?token=" + s.token), std::string::npos);
  EXPECT_NE(page.find("connect-src 'self'\">"), std::string::npos);
}

TEST_F(Watch, TwoClientsSeeARunGrowAndDieAndGoOn) {
  Program program(folder_, long_run("out"));
  ASSERT_TRUE(program.wait_for(folder_ / "out/metrics.csv"));
  Server s(folder_, {"out"}, "url");
  ASSERT_GT(s.port, 0);
  Listener first(s.port, s.token);
  ASSERT_TRUE(first.until([](auto& l) { return l.rows > 1; }));
  Listener second(s.port, s.token);
  ASSERT_TRUE(second.until([](auto& l) { return l.rows > 1; }));
  EXPECT_EQ(first.run(0)["status"], "running");
  EXPECT_EQ(first.reports, 1u);
  program.signal(SIGKILL);
  program.wait();
  for (Listener* l : {&first, &second}) {
    ASSERT_TRUE(l->until([](auto& c) { return c.ends > 0; }));
    EXPECT_FALSE(l->gap);
    EXPECT_EQ(l->run(0)["status"], "stopped");
    EXPECT_EQ(l->run(0)["reason"], "its process ended; go on with --resume");
    EXPECT_EQ(l->rows_of(0) + 1, lines_of(read_text(folder_ / "out/metrics.csv")).size());
  }
  // It goes on from round 0, because there was no checkpoint; then it ends.
  Arguments again = long_run("out");
  again.push_back("--resume");
  Program resumed(folder_, again);
  ASSERT_TRUE(first.until([](auto& l) { return l.run(0)["status"] == "running"; }));
  resumed.signal(SIGINT);
  EXPECT_EQ(resumed.wait().code, 75);
  for (Listener* l : {&first, &second})
    EXPECT_TRUE(l->until([](auto& c) { return c.run(0)["status"] == "interrupted"; }));
  EXPECT_FALSE(s.program.ended());
}

// A run folder becomes that of a site by the key that its site has pinned.
TEST_F(Watch, ShowsWhoIsUpAndWhoWaitsForWhom) {
  for (const char* name : {"a", "b"}) {
    run(name);
    write(name + std::string("/operator.pub"), "");
    json summary = json::parse(read_text(folder_ / name / "run.json"));
    summary["site"] = {{"name", std::string("site-") + name}};
    write(name + std::string("/run.json"), summary.dump());
  }
  const auto status = [&](const std::string& name, const json& more) {
    json all{{"name", "site-" + name},
             {"state", "running"},
             {"round", 3},
             {"iterations", 30},
             {"peers", json::array()}};
    all.update(more);
    write(name + "/status.tmp", all.dump());
    std::filesystem::rename(folder_ / name / "status.tmp", folder_ / name / "status.json");
  };
  status("a", {{"waiting", {{"site", "site-b"}, {"seconds", 4}}}});
  status("b", json::object());
  const Outcome o = ticopd({"report", "a", "b", "--out", "page", "--json"});
  EXPECT_EQ(o.code, 0) << o.err;  // the runs of one config, told apart by their sites
  const json told = json::parse(o.out, nullptr, false);
  EXPECT_EQ(told["runs"][1]["label"], "site-b");
  ASSERT_EQ(told["sites"].size(), 2u);
  EXPECT_EQ(told["sites"][0]["waiting"]["site"], "site-b");
  const Server s(folder_, {"a", "b"}, "url");
  Listener listener(s.port, s.token);
  ASSERT_TRUE(listener.until([](auto& l) { return l.reports == 1; }));
  EXPECT_EQ(listener.report["sites"], told["sites"]);
  status("a", {{"round", 17}});
  ASSERT_TRUE(listener.until([](auto& l) { return l.last == "sites"; }));
  EXPECT_EQ(listener.report["sites"][0]["round"], 17);
  EXPECT_FALSE(listener.report["sites"][0].contains("waiting"));
  EXPECT_EQ(listener.report["sites"][0]["up"], false);
  EXPECT_EQ(listener.reports, 1u);
}

TEST_F(Watch, RowsAreVisibleAboutASecondAfterTheyWereLogged) {
  Program program(folder_, long_run("out"));
  ASSERT_TRUE(program.wait_for(folder_ / "out/metrics.csv"));
  const Server s(folder_, {"out"}, "url");
  Listener listener(s.port, s.token);
  ASSERT_TRUE(listener.until([](auto& l) { return l.rows > 0; }));
  const auto before = Clock::now();
  const std::size_t rows = listener.rows;
  ASSERT_TRUE(listener.until([&](auto& l) { return l.rows >= rows + 3; }));
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - before).count(), 12);  // a busy machine
}

TEST_F(Watch, AComparisonGrowsRunByRun) {
  write("two.toml", small_problem + R"([log]
every = 500
[[run]]
label = "</script><img src=x onerror=alert(1)>"
codec.bits = 4
[[run]]
label = "second & \"last\""
iterations = 90000000
)");
  Program program(folder_,
                  {"compare", "two.toml", "--quiet", "--out", "both", "--set", "log.every=500"});
  ASSERT_TRUE(program.wait_for(folder_ / "both/compare.json"));
  const Server s(folder_, {"both"}, "url");
  Listener listener(s.port, s.token);
  ASSERT_TRUE(
      listener.until([](auto& l) { return l.report["runs"].size() == 2 && l.rows_of(1) > 5; }));
  EXPECT_EQ(listener.run(0)["label"], "</script><img src=x onerror=alert(1)>");
  EXPECT_EQ(listener.run(0)["status"], "finished");
  EXPECT_EQ(listener.run(1)["status"], "running");
  EXPECT_EQ(get(s, "/?token=" + s.token).find("<img"), std::string::npos);
  program.signal(SIGKILL);
  EXPECT_TRUE(listener.until([](auto& l) { return l.run(1)["status"] == "stopped"; }));
}

TEST_F(Watch, AnEmptyFolderWaitsForItsRun) {
  write("out/", "");
  const Server s(folder_, {"out"}, "url");
  Listener listener(s.port, s.token);
  ASSERT_TRUE(listener.until([](auto& l) { return l.reports == 1; }));
  EXPECT_EQ(listener.report["runs"].size(), 0u);
  EXPECT_NE(listener.report["live"]["missing"][0].get<std::string>().find("not begun"),
            std::string::npos);
  run("out", {"--set", "iterations=50"});
  EXPECT_TRUE(listener.until([](auto& l) {
    return l.report["runs"].size() == 1 && l.run(0)["status"] == "finished" && l.ends > 0;
  }));
}

TEST_F(Watch, AFolderThatIsDamagedOrGoneIsSaidAndEndsNothing) {
  run("a", {"--set", "name=a"});
  run("b", {"--set", "name=b"});
  Server s(folder_, {"a", "b"}, "url");
  Listener listener(s.port, s.token);
  ASSERT_TRUE(listener.until([](auto& l) { return l.reports == 1; }));
  write("a/metrics.csv", "iteration,nonsense\n1,2\n");
  ASSERT_TRUE(listener.until([](auto& l) { return l.run(0)["status"] == "stopped"; }));
  EXPECT_NE(listener.run(0)["reason"].get<std::string>().find("metrics.csv:1"), std::string::npos);
  std::filesystem::remove_all(folder_ / "a");
  ASSERT_TRUE(listener.until([](auto& l) {
    return l.run(0)["reason"].template get<std::string>().find("gone") != std::string::npos;
  }));
  EXPECT_EQ(listener.run(1)["status"], "finished");
  std::filesystem::remove_all(folder_ / "b");
  ASSERT_TRUE(listener.until([](auto& l) { return l.run(1)["status"] == "stopped"; }));
  EXPECT_GT(listener.rows_of(1), 0u);
  EXPECT_FALSE(s.program.ended());
}

TEST_F(Watch, ASearchShowsItsTrials) {
  ASSERT_EQ(ticopd({"tune", "small.toml", "--runs", "2", "--out", "search", "--quiet"}).code, 0);
  const Server s(folder_, {"search"}, "url");
  Listener listener(s.port, s.token);
  ASSERT_TRUE(listener.until([](auto& l) { return l.reports == 1; }));
  EXPECT_GT(listener.report["runs"].size(), 2u);
  EXPECT_NE(listener.run(0)["label"].get<std::string>().find("alpha = "), std::string::npos);
}

TEST_F(Watch, ClientsThatDoNotReadOrSayNothingStallNobody) {
  run("out");
  Server s(folder_, {"out"}, "url");
  std::vector<std::unique_ptr<Connection>> idle;
  std::vector<std::unique_ptr<Listener>> silent;
  for (int i = 0; i < 8; ++i) {
    idle.push_back(std::make_unique<Connection>(s.port));
    silent.push_back(std::make_unique<Listener>(s.port, s.token));
  }
  EXPECT_EQ(status(get(s, "/?token=" + s.token)), 200);
  // More listeners than are allowed: the last are told so, and pages are served all the same.
  for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<Listener>(s.port, s.token));
  EXPECT_EQ(status(get(s, "/events?token=" + s.token)), 503);
  EXPECT_EQ(status(get(s, "/?token=" + s.token)), 200);
  silent.clear();  // those that went leave their places
  bool served = false;
  for (const auto end = Clock::now() + soon; Clock::now() < end && !served;)
    served = Listener(s.port, s.token).until([](auto& l) { return l.reports == 1; });
  EXPECT_TRUE(served);
  const auto before = Clock::now();
  s.program.signal(SIGTERM);
  EXPECT_EQ(s.program.wait().code, 0);
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - before).count(), 3);
}

TEST_F(Watch, EndsWithZeroOnCtrlC) {
  run("out");
  Server s(folder_, {"out"}, "url");
  Listener listener(s.port, s.token);
  ASSERT_TRUE(listener.until([](auto& l) { return l.reports == 1; }));
  s.program.signal(SIGINT);
  const Outcome o = s.program.wait();
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
}

TEST_F(Watch, NamesAPortThatIsTaken) {
  run("out");
  const Server s(folder_, {"out"}, "url");
  const Outcome o = ticopd({"watch", "out", "--no-browser", "--port", std::to_string(s.port)});
  EXPECT_EQ(o.code, 69);
  EXPECT_NE(o.err.find("--port " + std::to_string(s.port)), std::string::npos) << o.err;
}

TEST_F(Watch, BadArgumentsAreNamed) {
  write("notes/thesis.txt", "chapter 1");
  write("file", "x");
  EXPECT_EQ(ticopd({"watch"}).code, 64);
  EXPECT_EQ(ticopd({"watch", "notes", "--port", "0"}).code, 64);
  for (const std::string word : {"nowhere", "notes", "file"}) {
    const Outcome o = ticopd({"watch", word, "--no-browser"});
    EXPECT_EQ(o.code, 65) << o.err;
    EXPECT_NE(o.err.find(word), std::string::npos) << o.err;
  }
}

}  // namespace
}  // namespace ticopd
