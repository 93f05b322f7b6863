#include "ticopd/system/library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "ticopd/system/descriptor.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TICOPD_DEEP_BINDING 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TICOPD_DEEP_BINDING 0
#endif
#endif
#ifndef TICOPD_DEEP_BINDING
#define TICOPD_DEEP_BINDING RTLD_DEEPBIND
#endif

namespace ticopd {
namespace {

namespace fs = std::filesystem;

// The loader knows where libraries are. A library that was not loaded before is loaded and unloaded
// again.
std::string file_of_library(const char* name) {
  void* const library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return {};
  link_map* map = nullptr;
  std::string file;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) == 0) file = map->l_name;
  ::dlclose(library);
  return file;
}

Descriptor copy_in_memory(const std::string& file) {
  const Descriptor from(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (from.get() < 0 || ::fstat(from.get(), &about) != 0) return Descriptor();
  Descriptor to(::memfd_create("ticopd", MFD_CLOEXEC));
  if (to.get() < 0) return to;
  for (off_t at = 0; at < about.st_size;)
    if (::sendfile(to.get(), from.get(), &at, static_cast<std::size_t>(about.st_size - at)) <= 0)
      return Descriptor();
  return to;
}

template <class T>
bool read_at(int fd, std::vector<T>& entries, std::uint64_t offset) {
  const auto bytes = static_cast<ssize_t>(entries.size() * sizeof(T));
  return ::pread(fd, entries.data(), entries.size() * sizeof(T), static_cast<off_t>(offset)) ==
         bytes;
}

// Empties the name that the library has for the loader. The loader would else give the copy to the
// next library that needs one of this name.
bool forget_name(int fd) {
  std::vector<ElfW(Ehdr)> head(1);
  if (!read_at(fd, head, 0) || head[0].e_phentsize != sizeof(ElfW(Phdr))) return false;
  std::vector<ElfW(Phdr)> segments(head[0].e_phnum);
  if (!read_at(fd, segments, head[0].e_phoff)) return false;
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    std::vector<ElfW(Dyn)> entries(segment.p_filesz / sizeof(ElfW(Dyn)));
    if (!read_at(fd, entries, segment.p_offset)) return false;
    for (ElfW(Dyn) & entry : entries)
      if (entry.d_tag == DT_SONAME) entry.d_un.d_val = 0;  // the empty text
    const std::size_t bytes = entries.size() * sizeof(ElfW(Dyn));
    return ::pwrite(fd, entries.data(), bytes, static_cast<off_t>(segment.p_offset)) ==
           static_cast<ssize_t>(bytes);
  }
  return false;
}

}  // namespace

fs::path own_folder() {
  Dl_info about{};
  link_map* map = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(&own_folder), &about, reinterpret_cast<void**>(&map),
                RTLD_DL_LINKMAP) == 0)
    return {};
  // The program itself has no name here, and what it was called by may be of any folder.
  const fs::path file = *map->l_name == '\0' ? "/proc/self/exe" : map->l_name;
  std::error_code error;
  return file.is_absolute() ? fs::canonical(file, error).parent_path() : fs::path();
}

void* open_own_copy(const char* name) {
  const std::string file = file_of_library(name);
  if (file.empty()) return nullptr;
  const Descriptor copy = copy_in_memory(file);
  if (copy.get() < 0 || !forget_name(copy.get())) return nullptr;
  // A library is the same to the loader if its path is, and others may open theirs through
  // /proc/self/fd. Deep binding: the copy calls its own functions, not those of a BLAS that the
  // whole process sees.
  return ::dlopen(fmt::format("/proc/thread-self/fd/{}", copy.get()).c_str(),
                  RTLD_NOW | RTLD_LOCAL | TICOPD_DEEP_BINDING);
}

}  // namespace ticopd
