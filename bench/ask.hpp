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

// The protocol between run.py and a benchmark. The program first describes itself in one line of
// JSON. Each line that it then reads names an action; it runs the action once and answers with
// {"ms": ...}. At the end of its input it prints a last line with its result. So run.py can time
// several programs in turns, and their ratios stay valid on a machine whose speed changes.
using Actions = std::map<std::string, std::function<void()>>;

inline void say(const nlohmann::json& line) {
  std::cout << line << std::endl;  // flushed, since run.py waits for the line
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

// Timed results must be correct: a benchmark that fails a check ends, and run.py ends with it.
inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("check failed: " + what);
}

// Runs the body of main; an exception becomes a message and an exit code.
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
