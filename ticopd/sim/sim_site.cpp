// What a simulated site asks of the world.
#include <stdexcept>
#include <utility>

#include "ticopd/sim/sim_world.hpp"

namespace ticopd {

void SimSite::point() {
  if (world_.now() != counted_at_) {
    counted_at_ = world_.now();
    calls_now_ = 0;
  }
  if (++calls_now_ > 1'000'000) throw std::runtime_error("it spins: a million calls at one moment");
  if (calls_to_live < 0) return;
  if (calls_to_live-- == 0) throw Killed();
}

Time SimSite::now() {
  point();
  return world_.now();
}

std::uint64_t SimSite::random() {
  return random_.next();
}

void SimSite::send(int site, Bytes message) {
  point();
  world_.carry(machine_, site, std::move(message));
}

std::optional<Wire::Arrived> SimSite::receive(Time until) {
  point();
  while (inbox.empty() && until > world_.now()) {
    waiting = true;
    world_.wake_at(until, machine_, ++wakes);
    fiber->yield();
    waiting = false;
    point();
  }
  if (inbox.empty()) return std::nullopt;
  Arrived first = std::move(inbox.front());
  inbox.pop_front();
  return first;
}

void SimSite::write(const std::string& file, std::span<const std::byte> bytes) {
  point();
  disk.write(file, bytes);
  point();
}

void SimSite::sync(const std::string& file) {
  point();
  disk.sync(file, std::exchange(fsync_fails, false), random_);
  ++world_.outcome.checkpoints;
  point();
}

void SimSite::rename(const std::string& from, const std::string& to) {
  point();
  disk.rename(from, to);
  point();
}

}  // namespace ticopd
