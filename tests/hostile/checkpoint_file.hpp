#pragma once

#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace ticopd {

// A checkpoint whose notes can be changed. The header's hash is made right again, as somebody who
// wants to do harm would.
class CheckpointFile {
 public:
  explicit CheckpointFile(const std::filesystem::path& file) : file_(file) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    header = nlohmann::json::parse(bytes.substr(sizeof length, length));
    tensors_ = bytes.substr(sizeof length + length);
  }

  // A note that is JSON itself, such as the ledger.
  void edit(const std::string& note, const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json value = nlohmann::json::parse(notes()[note].get<std::string>());
    change(value);
    notes()[note] = value.dump();
  }

  nlohmann::json& notes() { return header["__metadata__"]; }

  void save() {
    notes().erase("check");
    std::string text = header.dump();
    char check[17];
    std::snprintf(check, sizeof check, "%016llx",
                  static_cast<unsigned long long>(XXH3_64bits(text.data(), text.size())));
    notes()["check"] = check;
    text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = text.size();
    std::ofstream out(file_, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(&length), sizeof length);
    out << text << tensors_;
  }

  nlohmann::json header;

 private:
  std::filesystem::path file_;
  std::string tensors_;
};

}  // namespace ticopd
