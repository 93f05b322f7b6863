#pragma once

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

// Reads the dynamic section of ELF files: which folders the loader searches for libraries.
namespace ticopd {

class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    bytes_.resize(SELFMAG);
    in.read(bytes_.data(), SELFMAG);
    if (!in || bytes_ != ELFMAG) return;
    bytes_.resize(std::filesystem::file_size(file));
    in.read(bytes_.data() + SELFMAG, static_cast<std::streamsize>(bytes_.size() - SELFMAG));
  }

  // A program or a shared library of this word size, with a dynamic section.
  bool is_loaded() const {
    if (bytes_.size() < sizeof(Elf64_Ehdr) || bytes_.compare(0, SELFMAG, ELFMAG) != 0 ||
        bytes_[EI_CLASS] != ELFCLASS64)
      return false;
    const auto type = at<Elf64_Ehdr>(0).e_type;
    return (type == ET_EXEC || type == ET_DYN) && !dynamic().empty();
  }

  std::vector<std::string> needed() const { return texts({DT_NEEDED}); }

  // The entries of all search paths, empty ones included.
  std::vector<std::string> search_path() const {
    std::vector<std::string> entries;
    for (const std::string& path : texts({DT_RPATH, DT_RUNPATH})) {
      std::size_t begin = 0;
      for (std::size_t end; (end = path.find(':', begin)) != std::string::npos; begin = end + 1)
        entries.push_back(path.substr(begin, end - begin));
      entries.push_back(path.substr(begin));
    }
    return entries;
  }

  // The offsets in the file of all entries of the dynamic section with this tag.
  std::vector<std::size_t> offsets_of(Elf64_Sxword tag) const {
    std::vector<std::size_t> found;
    for (const auto& [offset, entry] : dynamic())
      if (entry.d_tag == tag) found.push_back(offset);
    return found;
  }

 private:
  template <class T>
  T at(std::size_t offset) const {
    T value{};
    if (offset + sizeof value <= bytes_.size())
      std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  std::vector<Elf64_Phdr> segments() const {
    std::vector<Elf64_Phdr> all;
    const auto head = at<Elf64_Ehdr>(0);
    for (std::size_t i = 0; i < head.e_phnum; ++i)
      all.push_back(at<Elf64_Phdr>(head.e_phoff + i * head.e_phentsize));
    return all;
  }

  std::vector<std::pair<std::size_t, Elf64_Dyn>> dynamic() const {
    std::vector<std::pair<std::size_t, Elf64_Dyn>> all;
    for (const Elf64_Phdr& s : segments())
      if (s.p_type == PT_DYNAMIC)
        for (std::size_t o = s.p_offset; o < s.p_offset + s.p_filesz; o += sizeof(Elf64_Dyn)) {
          all.emplace_back(o, at<Elf64_Dyn>(o));
          if (all.back().second.d_tag == DT_NULL) break;
        }
    return all;
  }

  std::vector<std::string> texts(std::vector<Elf64_Sxword> tags) const {
    std::size_t strings = 0;
    for (const auto& [offset, entry] : dynamic())
      if (entry.d_tag == DT_STRTAB)
        for (const Elf64_Phdr& s : segments())  // its address, as an offset in the file
          if (s.p_type == PT_LOAD && entry.d_un.d_ptr >= s.p_vaddr &&
              entry.d_un.d_ptr < s.p_vaddr + s.p_filesz)
            strings = entry.d_un.d_ptr - s.p_vaddr + s.p_offset;
    std::vector<std::string> all;
    for (const auto& [offset, entry] : dynamic())
      for (const Elf64_Sxword tag : tags)
        if (entry.d_tag == tag) all.emplace_back(bytes_.c_str() + strings + entry.d_un.d_val);
    return all;
  }

  std::string bytes_;
};

// True if the loader finds the same folder whatever the current one is.
inline bool is_fixed(const std::string& entry) {
  return entry.starts_with('/') || entry == "$ORIGIN" || entry.starts_with("$ORIGIN/") ||
         entry == "${ORIGIN}" || entry.starts_with("${ORIGIN}/");
}

}  // namespace ticopd
