// Every file that ticopd reads, but for checkpoints (fuzz_checkpoint, fuzz_site_checkpoint).
// `fuzz_read --reader=NAME
// ...` says which: an input is a file as that reader finds it, so the corpus of a reader is a
// folder of ordinary files. A reader refuses it with an error of ours, or accepts it; then what it
// read, written and read again, is the same. `fuzz_read --list` prints the names.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz/read_data.hpp"
#include "fuzz/read_runs.hpp"
#include "fuzz/read_sites.hpp"
#include "fuzz/want.hpp"

namespace {

using namespace ticopd;

struct Reader {
  std::string_view name;
  void (*read)(std::string_view content);
};

// A new reader is a function and a line here, and a folder corpus/NAME.
constexpr Reader readers[] = {{"config", read_config},
                              {"edges", read_edges},
                              {"csv", read_csv_file},
                              {"libsvm", read_libsvm_file},
                              {"npy", read_npy_file},
                              {"idx", read_idx_file},
                              {"run_json", read_run_json},
                              {"metrics", read_metrics},
                              {"kept_metrics", read_kept_metrics},
                              {"trials", read_trials},
                              {"compare", read_compare},
                              {"roster", read_roster},
                              {"signature", read_signature},
                              {"signed_roster", read_signed_roster},
                              {"key", read_key},
                              {"site_run", read_site_run},
                              {"site_status", read_site_status},
                              {"site_metrics", read_site_metrics}};

const Reader* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view flag = "--reader=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view word = (*argv)[i];
    if (word == "--list") {
      for (const Reader& reader : readers) std::printf("%s\n", std::string(reader.name).c_str());
      std::exit(0);
    }
    if (!word.starts_with(flag)) continue;
    const auto* at = std::ranges::find(readers, word.substr(flag.size()), &Reader::name);
    if (at != std::end(readers)) chosen = at;
  }
  if (chosen == nullptr) {
    std::fprintf(stderr, "fuzz_read: --reader=NAME is missing; --list prints the names\n");
    std::exit(64);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  accepts([&] { chosen->read({reinterpret_cast<const char*>(data), size}); });
  return 0;
}
