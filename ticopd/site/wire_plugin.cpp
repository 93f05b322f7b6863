#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "ticopd/error.hpp"
#include "ticopd/run/machine.hpp"
#include "ticopd/site/site_wire.hpp"
#include "ticopd/system/library.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "libticopd_zmq.so";

// Opened once and kept. Beside the program, or where an installation has it.
void* plugin(std::string& why) {
  static std::string trouble;
  static void* const opened = [] {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path& folder : {own_folder(), program, program / ".." / TICOPD_PLUGIN_DIR}) {
      if (folder.empty() || !fs::exists(folder / file_name, error)) continue;
      if (void* handle = dlopen((folder / file_name).c_str(), RTLD_NOW)) return handle;
      trouble = dlerror();
      return static_cast<void*>(nullptr);
    }
    trouble = fmt::format("{} is not beside the program", file_name);
    return static_cast<void*>(nullptr);
  }();
  why = trouble;
  return opened;
}

}  // namespace

std::unique_ptr<SiteWire> open_wire(const WireSettings& settings) {
  std::string why;
  void* const handle = plugin(why);
  if (handle == nullptr)
    throw UnavailableError(fmt::format(
        "sites need ZeroMQ, and this build has no part for it: {}; install libzmq3-dev and "
        "cppzmq-dev and build again",
        why));
  const auto made_for = reinterpret_cast<const char* (*)()>(dlsym(handle, "ticopd_zmq_version"));
  const auto make =
      reinterpret_cast<SiteWire* (*)(const WireSettings&)>(dlsym(handle, "ticopd_zmq_wire"));
  if (made_for == nullptr || make == nullptr || std::string(made_for()) != version)
    throw UnavailableError(
        fmt::format("{} is of another build than this program, {}: build both from one tree",
                    file_name, version));
  return std::unique_ptr<SiteWire>(make(settings));
}

}  // namespace ticopd
