#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace ticopd::bench {

// How run.py talks to a benchmark. The program says what it is in one line of JSON; every further
// line it reads is a word, which it acts upon once and answers with {"ms": ...}; at the end of its
// input it says how it ended. So several programs can be timed in turns, which is what makes their
// ratios mean something on a machine whose speed changes.
using Actions = std::map<std::string, std::function<void()>>;

inline void say(const nlohmann::json& line) {
  std::cout << line << std::endl;  // flushed: run.py waits for it
}

inline void answer(const Actions& actions) {
  for (std::string word; std::getline(std::cin, word);) {
    const auto action = actions.find(word);
    if (action == actions.end()) throw std::invalid_argument("no such question: " + word);
    const auto begin = std::chrono::steady_clock::now();
    action->second();
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - begin;
    say({{"ms", spent.count()}});
  }
}

// What is timed must be right: a benchmark that fails this ends, and run.py with it.
inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("check failed: " + what);
}

// The body of main: a message and an exit code instead of std::terminate.
inline int guarded(const char* program, const std::function<void()>& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& trouble) {
    std::cerr << program << ": " << trouble.what() << std::endl;
    return 70;
  }
}

}  // namespace ticopd::bench
