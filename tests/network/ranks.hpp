#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "ticopd/network/cpu.hpp"
#include "ticopd/transport/threads.hpp"

namespace ticopd::dense {

// Runs body(transport) on every rank, each in its own thread; returns what each rank threw, or
// null.
inline std::vector<std::exception_ptr> on_every_rank(ThreadRanks& all, int ranks,
                                                     const std::function<void(Transport&)>& body) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      try {
        body(all.rank(r));
      } catch (const std::exception& e) {
        errors[static_cast<std::size_t>(r)] = std::current_exception();
        all.abandon(r, e.what());
      }
    });
  for (std::thread& t : threads) t.join();
  return errors;
}

inline std::string message_of(const std::exception_ptr& error) {
  if (!error) return "";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
}

template <class E>
bool is(const std::exception_ptr& error) {
  if (!error) return false;
  try {
    std::rethrow_exception(error);
  } catch (const E&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace ticopd::dense
