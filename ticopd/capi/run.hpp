#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ticopd/capi/conversation.hpp"
#include "ticopd/capi/questions.hpp"

// A run, and the thread that it lives on.
struct tc_run {
  ticopd::capi::Conversation conversation;
  std::unique_ptr<ticopd::Session> session;  // made on the thread; null until then
  std::atomic<bool> in_use{false};           // by a thread of the caller's

  // The rounds that are made, and those to be made: a step may be cut short or prolonged while the
  // thread computes.
  std::atomic<std::uint32_t> made{0}, wanted{0};
  bool stepping = false;  // the work of the conversation is a step
  std::uint32_t saved_round = 0;
  std::vector<double> measured;

  std::mutex warnings_mutex;
  std::vector<std::string> warnings;
};
