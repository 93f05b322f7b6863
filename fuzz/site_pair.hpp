#pragma once

#include <array>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <string>

#include "fuzz/want.hpp"
#include "ticopd/sim/fiber.hpp"
#include "ticopd/site/site.hpp"

namespace ticopd {

// Two sites that run one experiment in one thread, on a wire that loses nothing, each with its
// folder in memory.
class SitePair {
 public:
  using Files = std::map<std::string, Bytes>;
  enum class End : unsigned char { none, finished, refused, stopped };

  explicit SitePair(std::array<Files, 2> files) {
    for (int s : {0, 1}) machines_.push_back(std::make_unique<Machine>(*this, s));
    for (std::size_t s : {0, 1}) machines_[s]->files = std::move(files[s]);
  }

  // Runs both; afterwards calls `look` with a site that came to its end. Any exception but our own
  // errors is a finding.
  template <class T, class Look>
  void run(const RunFactory<T>& algorithm, const Setup<T>& setup, const SiteOptions& options,
           Look look) {
    for (const auto& m : machines_)
      m->fiber = std::make_unique<Fiber>([&, machine = m.get()] {
        try {
          SiteOptions mine = options;
          mine.sites.own = machine->number;
          Site<T> site(algorithm, setup, {*machine, *machine, *machine}, mine);
          site.run();
          look(machine->number, site);
          machine->end = End::finished;
        } catch (const Stop&) {
          machine->end = End::stopped;
        } catch (const Error& e) {
          want(e.exit_code() != 70 && *e.what() != '\0');
          if (std::getenv("FUZZ_SAY") != nullptr)
            std::fprintf(stderr, "site %d refuses: %s\n", machine->number, e.what());
          machine->end = End::refused;
          over_ = true;
        } catch (const std::exception& e) {
          std::fprintf(stderr, "site %d: %s\n", machine->number, e.what());
          std::abort();
        }
      });
    while (turn()) {
    }
    // A fiber that still lives holds objects on its stack.
    over_ = true;
    for (const auto& m : machines_)
      if (m->fiber) resume(*m);
  }

  End end(std::size_t site) const { return machines_[site]->end; }
  const Files& files(std::size_t site) const { return machines_[site]->files; }

 private:
  struct Stop {};
  static constexpr Time limit = 100 * one_second;

  struct Machine final : Clock, Wire, Store {
    Machine(SitePair& p, int n) : pair(p), number(n) {}

    Time now() override { return pair.now_; }
    std::uint64_t random() override { return ++pair.boots_; }
    void send(int site, Bytes message) override {
      pair.machines_[static_cast<std::size_t>(site)]->inbox.push_back({number, std::move(message)});
    }
    std::optional<Arrived> receive(Time until) override {
      while (inbox.empty() && until > pair.now_ && !pair.over_) {
        wait = until;
        fiber->yield();
      }
      if (pair.over_) throw Stop();
      if (inbox.empty()) return std::nullopt;
      Arrived first = std::move(inbox.front());
      inbox.pop_front();
      return first;
    }
    std::vector<std::string> list() override {
      std::vector<std::string> names;
      for (const auto& [name, content] : files) names.push_back(name);
      return names;
    }
    Bytes read(const std::string& file) override { return files.at(file); }
    void write(const std::string& file, std::span<const std::byte> bytes) override {
      files[file].assign(bytes.begin(), bytes.end());
    }
    void sync(const std::string&) override {}
    void rename(const std::string& from, const std::string& to) override {
      files[to] = std::move(files.at(from));
      files.erase(from);
    }
    void remove(const std::string& file) override { files.erase(file); }
    void sync_folder() override {}

    SitePair& pair;
    int number;
    Files files;
    std::deque<Arrived> inbox;
    std::unique_ptr<Fiber> fiber;
    Time wait = 0;
    End end = End::none;
  };

  void resume(Machine& m) {
    m.fiber->resume();
    if (m.fiber->ended()) m.fiber.reset();
  }

  // Every site that can goes on; if none can, time does. False when all is over.
  bool turn() {
    if (over_) return false;
    bool any = false, alive = false;
    Time next = limit;
    for (const auto& m : machines_) {
      if (!m->fiber) continue;
      if (m->inbox.empty() && m->wait > now_) {
        next = std::min(next, m->wait);
        alive = true;
        continue;
      }
      any = true;
      resume(*m);
      if (over_) return false;
    }
    if (any) return true;
    now_ = next;
    return alive && now_ < limit;
  }

  std::vector<std::unique_ptr<Machine>> machines_;
  Time now_ = 0;
  std::uint64_t boots_ = 0;
  bool over_ = false;
};

}  // namespace ticopd
