#include "ticopd/system/plugins.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "ticopd/error.hpp"
#include "ticopd/numeric/fingerprint.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/text.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

std::vector<Plugin>& plugins() {
  static std::vector<Plugin> all;
  return all;
}

[[noreturn]] void refuse(const std::string& given, const std::string& why) {
  throw ConfigError(fmt::format("--plugin {}: {}", given, why));
}

template <class S>
std::optional<S> read_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(S)) return std::nullopt;
  S value;
  std::memcpy(&value, bytes.data() + offset, sizeof(S));
  return value;
}

std::string_view machine_of(unsigned number) {
  switch (number) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "i386";
    case EM_ARM:
      return "arm";
    case EM_PPC64:
      return "ppc64";
    case EM_RISCV:
      return "riscv";
    default:
      return "another machine";
  }
}

// The header of this program says what a library for it looks like.
ElfW(Ehdr) own_head() {
  ElfW(Ehdr) head{};
  std::ifstream("/proc/self/exe", std::ios::binary)
      .read(reinterpret_cast<char*>(&head), sizeof(head));
  return head;
}

// Throws unless the bytes are those of a shared library for this machine.
ElfW(Ehdr) require_library(const std::string& given, std::string_view bytes) {
  const auto head = read_at<ElfW(Ehdr)>(bytes, 0);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
    refuse(given, "is no shared library (ELF); a plug-in is built with ticopd_plugin() of CMake");
  const ElfW(Ehdr) own = own_head();
  const bool same_kind =
      std::equal(head->e_ident + EI_CLASS, head->e_ident + EI_VERSION, own.e_ident + EI_CLASS);
  if (!same_kind || head->e_machine != own.e_machine)
    refuse(given,
           fmt::format("is for {}{}, this program is for {}", machine_of(head->e_machine),
                       same_kind ? "" : ", or for another word size", machine_of(own.e_machine)));
  if (head->e_type != ET_DYN)
    refuse(given, "is a program or an object file, and no shared library");
  return *head;
}

// The record in the notes of one segment.
std::optional<PluginRecord> record_among(std::string_view notes, std::uint64_t align) {
  const auto padded = [&](std::uint64_t size) { return (size + align - 1) / align * align; };
  for (std::uint64_t at = 0; at < notes.size();) {
    const auto head = read_at<ElfW(Nhdr)>(notes, at);
    if (!head) return std::nullopt;
    const std::uint64_t owner = at + sizeof(*head);
    const std::uint64_t content = owner + padded(head->n_namesz);
    const std::uint64_t next = content + padded(head->n_descsz);
    if (next > notes.size() + align || content > notes.size()) return std::nullopt;
    if (head->n_type == PluginNote::our_type && head->n_namesz == sizeof(PluginNote::our_owner) &&
        notes.substr(owner, head->n_namesz) ==
            std::string_view(PluginNote::our_owner, sizeof(PluginNote::our_owner))) {
      // Another version may have a shorter record, or a longer one: the beginning is the same.
      PluginRecord record;
      const std::string_view bytes = notes.substr(content, head->n_descsz);
      std::memset(static_cast<void*>(&record), 0, sizeof(record));
      std::memcpy(static_cast<void*>(&record), bytes.data(),
                  std::min(bytes.size(), sizeof(record)));
      return record;
    }
    at = next;
  }
  return std::nullopt;
}

PluginRecord require_record(const std::string& given, std::string_view bytes) {
  const ElfW(Ehdr) head = require_library(given, bytes);
  std::optional<PluginRecord> record;
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    const auto segment =
        read_at<ElfW(Phdr)>(bytes, head.e_phoff + std::uint64_t{i} * sizeof(ElfW(Phdr)));
    // The loader would map what is not there, and the program would end at the first look at it.
    if (!segment || segment->p_offset > bytes.size() ||
        segment->p_filesz > bytes.size() - segment->p_offset)
      refuse(given, "is cut off or damaged");
    const std::string_view content = bytes.substr(segment->p_offset, segment->p_filesz);
    if (segment->p_type == PT_NOTE && !record)
      record = record_among(content, segment->p_align == 8 ? 8 : 4);
  }
  if (record) return *record;
  refuse(given,
         "is no plug-in of ticopd: it has no TICOPD_PLUGIN(\"name\", \"version\") { ... } "
         "(docs/extending.md)");
}

template <std::size_t n>
std::string text_of(const char (&chars)[n]) {
  return {chars, strnlen(chars, n)};
}

void compare(const std::string& given, const PluginRecord& theirs, const PluginRecord& ours) {
  const std::string again = "build it again with the headers of this program";
  const std::string version = text_of(theirs.ticopd_version);
  if (theirs.abi != ours.abi)
    refuse(given, fmt::format("is of interface {}, this ticopd {} takes {}: {}", theirs.abi,
                              text_of(ours.ticopd_version), ours.abi, again));
  if (version != text_of(ours.ticopd_version))
    refuse(given, fmt::format("was built for ticopd {}, this is {}: {}", version,
                              text_of(ours.ticopd_version), again));
  if (theirs.size != ours.size || theirs.layout != ours.layout)
    refuse(given,
           fmt::format("was built with the headers of another ticopd {}: {}", version, again));
  if (text_of(theirs.library) != text_of(ours.library))
    refuse(given, fmt::format("was built with {}, this program with {}: take the same compiler",
                              text_of(theirs.library), text_of(ours.library)));
}

void call_entry(const std::string& given, void* handle) {
  const auto mark = reinterpret_cast<const void* (*)()>(dlsym(handle, "ticopd_plugin_core"));
  const auto enter = reinterpret_cast<void (*)()>(dlsym(handle, "ticopd_plugin_enter"));
  if (mark == nullptr || enter == nullptr)
    refuse(given, "has no entry point: TICOPD_PLUGIN(\"name\", \"version\") { ... } makes it");
  if (mark() != core_mark())
    refuse(given,
           "has a core of its own, whose tables nobody reads: link ticopd::plugin and not "
           "ticopd::core");
  try {
    enter();
  } catch (const std::exception& e) {
    refuse(given, e.what());
  } catch (...) {
    refuse(given, "its entry point throws something that has no message");
  }
}

fs::path existing_file(const std::string& given) {
  if (given.find('/') == std::string::npos)
    throw UsageError(
        fmt::format("--plugin {}: allowed is a path with a slash, which no folder is searched for; "
                    "did you mean "
                    "\"./{}\"?",
                    given, given));
  if (!is_utf8(given)) refuse(printable(given), "its name is not UTF-8, and run.json must name it");
  std::error_code error;
  const fs::path file = fs::canonical(given, error);
  if (error) refuse(given, error.message());
  if (!fs::is_regular_file(file, error)) refuse(given, "is no file");
  for (const Plugin& other : plugins())
    if (other.file == file) refuse(given, "is loaded already, as " + other.given);
  return file;
}

}  // namespace

void load_plugin(const std::string& given, const PluginRecord& ours) {
  const fs::path file = existing_file(given);
  std::string bytes;
  try {
    bytes = read_bytes(file);
  } catch (const FormatError& e) {
    refuse(given, e.what());
  }
  const PluginRecord theirs = require_record(given, bytes);
  compare(given, theirs, ours);
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw UnavailableError(fmt::format("--plugin {}: cannot be loaded: {}", given, dlerror()));
  call_entry(given, handle);
  const std::string hash =
      Fingerprint().add_bytes(std::as_bytes(std::span(bytes.data(), bytes.size()))).hex();
  plugins().push_back({given, file, hash, text_of(theirs.name), text_of(theirs.version)});
}

std::span<const Plugin> loaded_plugins() {
  return plugins();
}

const void* core_mark() {
  static const char here = 0;
  return &here;
}

}  // namespace ticopd
