// Feeds every file of the given folders to the fuzz target that it is linked with. So the corpus is
// an ordinary test with any compiler. A target that refuses every file reaches only the first
// checks of its reader: the corpus, or what the target puts beside an input, has grown old.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "fuzz/want.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* argc, char*** argv);

int main(int argc, char** argv) {
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with("--")) continue;  // for LLVMFuzzerInitialize
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::printf("%s\n", entry.path().c_str());
      std::fflush(stdout);  // if it crashes, the last line names the file
      std::ifstream in(entry.path(), std::ios::binary);
      const std::vector<char> text{std::istreambuf_iterator<char>(in), {}};
      // A copy of exactly this size, so that a sanitizer finds a read beyond it.
      const std::vector<std::uint8_t> input(text.begin(), text.end());
      LLVMFuzzerTestOneInput(input.data(), input.size());
      ++files;
    }
  }
  if (files == 0) std::fprintf(stderr, "no files to replay\n");
  const bool all_refused = ticopd::tried_reads > 0 && ticopd::accepted_reads == 0;
  if (all_refused) std::fprintf(stderr, "every file is refused: no input leads deep any more\n");
  return files == 0 || all_refused ? 1 : 0;
}
