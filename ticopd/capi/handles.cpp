#include "ticopd/capi/handles.hpp"

#include <pthread.h>

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace ticopd::capi {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Held>> objects;
  std::uintptr_t last = 0;
  std::atomic<unsigned> process{0};  // how many forks lie between the first process and this one

  Table();
};

// Never destroyed: threads of the caller's may still call when the process ends.
Table& table() {
  static Table& only = *new Table;
  return only;
}

// A fork while another thread held the mutex would leave it locked in the child.
Table::Table() {
  ::pthread_atfork([] { table().mutex.lock(); }, [] { table().mutex.unlock(); },
                   [] {
                     table().mutex.unlock();
                     ++table().process;
                   });
}

}  // namespace

Held::Held() : process_(table().process) {}

bool Held::of_this_process() const {
  return process_ == table().process;
}

void* handle_of(std::shared_ptr<Held> object) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const std::uintptr_t handle = 2 * ++all.last + 1;  // odd: no pointer to an object is
  all.objects.emplace(handle, std::move(object));
  return reinterpret_cast<void*>(handle);
}

std::shared_ptr<Held> held(const void* handle) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.objects.find(reinterpret_cast<std::uintptr_t>(handle));
  return found == all.objects.end() ? nullptr : found->second;
}

std::shared_ptr<Held> forget(const void* handle) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.objects.find(reinterpret_cast<std::uintptr_t>(handle));
  if (found == all.objects.end()) return nullptr;
  std::shared_ptr<Held> object = std::move(found->second);
  all.objects.erase(found);
  return object;
}

}  // namespace ticopd::capi
