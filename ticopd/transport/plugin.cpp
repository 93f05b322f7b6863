#include "ticopd/transport/plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "ticopd/error.hpp"
#include "ticopd/system/library.hpp"
#include "ticopd/system/program.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "libticopd_mpi.so";

int number_of(std::initializer_list<const char*> variables) {
  for (const char* name : variables)
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
      return std::atoi(value);
  return -1;
}

std::vector<fs::path> places() {
  if (fs::path given = file_of_variable("TICOPD_MPI_PLUGIN", Named::absolute_path); !given.empty())
    return {given};
  // Beside the library that this code is in: in a Python process the program is Python. For the
  // command line both are one.
  std::error_code error;
  const fs::path library = own_folder();
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<fs::path> all;
  if (!library.empty()) all.push_back(library / file_name);
  all.insert(all.end(), {program / file_name, program / ".." / TICOPD_PLUGIN_DIR / file_name,
                         program / ".." / "lib" / file_name});  // a Python package
  return all;
}

// Opened once and kept: an MPI library cannot be unloaded. Its own components look for its symbols
// among the global ones.
void* plugin(std::string& why) {
  static std::string trouble;
  static void* const opened = [] {
    try {
      for (const fs::path& file : places()) {
        std::error_code error;
        if (!fs::exists(file, error)) continue;
        if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL)) return handle;
        trouble = dlerror();
        if (const char* named = std::getenv("TICOPD_MPI_PLUGIN");
            named != nullptr && *named != '\0')
          trouble = fmt::format("TICOPD_MPI_PLUGIN = \"{}\": {}", named, trouble);
        return static_cast<void*>(nullptr);
      }
      trouble = fmt::format("{} is not beside the program (TICOPD_MPI_PLUGIN names another place)",
                            file_name);
    } catch (const UnavailableError& e) {
      trouble = e.what();
    }
    return static_cast<void*>(nullptr);
  }();
  why = trouble;
  return opened;
}

template <class Function>
Function* find(void* handle, const char* name) {
  return reinterpret_cast<Function*>(dlsym(handle, name));
}

}  // namespace

int processes_started() {
  const int size = number_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
  if (size > 0) return size;
  // Slurm's PMIx tells a process its number alone.
  if (number_of({"PMIX_RANK", "PMI_RANK"}) < 0) return 0;
  return std::max(1, number_of({"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}));
}

int process_number() {
  return std::max(0, number_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}));
}

std::string mpi_library(std::string* missing) {
  std::string why;
  void* const handle = plugin(why);
  auto* const name =
      handle == nullptr ? nullptr : find<const char*()>(handle, "ticopd_mpi_library");
  if (handle != nullptr && name == nullptr) why = "it is no MPI part of ticopd";
  if (missing != nullptr) *missing = why;
  return name == nullptr ? std::string() : name();
}

namespace {

// Calls `late` unless it is destroyed before.
class Alarm {
 public:
  Alarm(double seconds, std::function<void()> late)
      : thread_([this, seconds, late = std::move(late)] {
          std::unique_lock lock(mutex_);
          if (!done_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return off_; }))
            late();
        }) {}
  ~Alarm() {
    {
      const std::lock_guard lock(mutex_);
      off_ = true;
    }
    done_.notify_all();
    thread_.join();
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool off_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Processes> join_processes(
    double deadline_s, const std::function<void(const std::string& what)>& on_emergency) {
  std::string why;
  void* const handle = plugin(why);
  auto* join = handle == nullptr ? nullptr : find<Processes*(double)>(handle, "ticopd_join_mpi");
  const char* const wish =
      processes_started() > 0 ? "started by mpirun" : "network.transport = \"mpi\"";
  const char* const named = std::getenv("TICOPD_MPI_PLUGIN");
  if (join == nullptr && named != nullptr && *named != '\0')
    throw UnavailableError(
        fmt::format("{}, but TICOPD_MPI_PLUGIN names no MPI part of ticopd: {}", wish,
                    handle != nullptr ? fmt::format("{} has no ticopd_join_mpi", named) : why));
  if (join == nullptr)
    throw UnavailableError(fmt::format(
        "{}, but this build has no MPI part: {}; install libopenmpi-dev and build again", wish,
        why));
  const auto version = find<const char*()>(handle, "ticopd_mpi_version");
  const auto layout = find<unsigned long()>(handle, "ticopd_mpi_layout");
  if (version == nullptr || std::string(version()) != TICOPD_VERSION || layout == nullptr ||
      layout() != sizeof(Processes))
    throw UnavailableError(
        fmt::format("{} is of another build than this program, {}: build both from one tree",
                    file_name, TICOPD_VERSION));
  std::unique_ptr<Processes> ranks;
  {
    const Alarm alarm(deadline_s, [&] {
      on_emergency(
          fmt::format("rank {} waited past network.deadline_s for all {} processes to start MPI",
                      process_number(), processes_started()));
    });
    ranks.reset(join(deadline_s));
  }
  ranks->on_emergency = on_emergency;
  // The mpirun of one MPI started us with the library of another. Each process would believe to be
  // alone, and all would write the same folder.
  if (const int started = processes_started(); started > 1 && ranks->size() != started)
    throw UnavailableError(fmt::format(
        "mpirun started {} processes, but {} sees {}: this mpirun belongs to another MPI; take "
        "the one that comes with it (mpirun.openmpi, mpirun.mpich)",
        started, mpi_library(), ranks->size()));
  return ranks;
}

}  // namespace ticopd
