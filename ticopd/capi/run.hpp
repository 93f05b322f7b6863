#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ticopd/capi/conversation.hpp"
#include "ticopd/capi/handles.hpp"
#include "ticopd/capi/questions.hpp"
#include "ticopd/capi/ranks.hpp"

// A run, and the thread that it lives on.
struct tc_run : ticopd::capi::Held {
  ~tc_run() override { conversation.close(); }  // its work uses all that stands below

  ticopd::capi::Conversation conversation;
  std::shared_ptr<tc_ranks> ranks;           // null: a run of one process
  std::unique_ptr<ticopd::Session> session;  // made on the thread; null until then
  std::uint32_t iterations = 0;

  // The rounds that are made, and those to be made: a step may be cut short or prolonged while the
  // thread computes.
  std::atomic<std::uint32_t> made{0}, wanted{0};
  std::atomic<bool> stepping{false};  // the work of the conversation is a step
  std::atomic<std::uint32_t> saved_round{0};
  std::vector<double> measured;

  std::mutex warnings_mutex;
  std::vector<std::string> warnings;
};
