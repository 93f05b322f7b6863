// hammer RUNS [CORPUS] [--codec NAME] [--seed N] runs every decoder of choose_codec.hpp so often,
// on damaged payloads, and checks what fuzz_decode checks. A fuzzer with sanitizers makes some ten
// thousand runs a second; this program makes a million. It has no coverage to guide it: it damages
// valid payloads, keeps some that are still accepted, and damages those. The payload and the row
// lie directly before a page that nobody may touch, now and then directly behind one.
// A finding is written to ./hammer-found, as an input of fuzz_decode, and the exit is by a signal.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/check_decode.hpp"
#include "fuzz/choose_codec.hpp"
#include "fuzz/finding.hpp"
#include "fuzz/guarded.hpp"
#include "fuzz/random.hpp"

namespace {

using namespace ticopd;
namespace fs = std::filesystem;

constexpr std::size_t most_payload = 1 << 15;  // more than any payload of 1024 doubles
constexpr int hang_s = 120;  // of CPU; no decoder needs so long for 65,536 payloads of this size

struct Input {
  std::uint8_t choice = 0;
  std::size_t d = 0;
  Bytes payload;
};

std::array<std::uint8_t, decode_head_bytes> head;  // of the input in progress

// One codec with one scalar: valid payloads, and what became of them.
template <class T>
class Target {
 public:
  Target(std::size_t kind, Random& random) : kind_(kind), random_(random) {
    for (std::size_t choice = 0; choice < codecs_.size(); ++choice) {
      codecs_[choice] = make_codec<T>(
          choose_codec(static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(choice)));
      inputs_.push_back({static_cast<std::uint8_t>(choice), small_dimension(), {}});
      encode(inputs_.back());
    }
    valid_ = inputs_.size();
    for (std::size_t i = 0; i < valid_; ++i) inputs_.push_back(inputs_[i]);
  }

  void add(Input input) { inputs_.push_back(std::move(input)); }

  // Returns whether the payload was accepted.
  bool run() {
    const Input& from = inputs_[random_.below(inputs_.size())];
    choice_ = from.choice;
    d_ = from.d;
    bytes_ = from.payload.size();
    if (bytes_ > 0) std::memcpy(work_.data(), from.payload.data(), bytes_);
    for (std::size_t n = 1 + random_.below(3); n > 0; --n) damage();
    const bool before = random_.one_in(16);
    std::byte* payload = before ? payload_.at_start() : payload_.at_end(bytes_);
    if (bytes_ > 0) std::memcpy(payload, work_.data(), bytes_);
    auto* row = reinterpret_cast<T*>(before ? row_.at_start() : row_.at_end(d_ * sizeof(T)));
    head = {static_cast<std::uint8_t>(kind_ * 2 + (sizeof(T) == 8)),
            static_cast<std::uint8_t>(d_ & 0xff), static_cast<std::uint8_t>(d_ >> 8), choice_};
    in_progress = {head.data(), head.size(), payload, bytes_};
    const bool accepted =
        check_decode<T>(*codecs_[choice_], std::span<const std::byte>(payload, bytes_),
                        std::span<T>(row, d_), again_);
    if (random_.one_in(16))
      check_chunks<T>(*codecs_[choice_], std::span<const std::byte>(payload, bytes_), d_);
    // The valid ones stay, so that all options are tried to the end.
    if (accepted && random_.one_in(256))
      inputs_[valid_ + random_.below(inputs_.size() - valid_)] = {
          choice_, d_, Bytes(work_.begin(), work_.begin() + static_cast<std::ptrdiff_t>(bytes_))};
    return accepted;
  }

 private:
  std::size_t small_dimension() {
    return random_.one_in(64) ? random_.below(decode_dimensions) : random_.below(48);
  }

  void encode(Input& input) {
    std::vector<T> row(input.d);
    const auto sparse = 1 + random_.below(4);
    for (T& v : row)
      v = random_.one_in(sparse)
              ? static_cast<T>(static_cast<double>(random_() >> 11) * 0x1p-52 - 1)
              : T(0);
    if (!codecs_[input.choice]->encode(row, fuzzed_message, input.payload)) std::abort();
  }

  void damage() {
    const std::uint64_t r = random_();
    const std::size_t at = bytes_ > 0 ? static_cast<std::uint32_t>(r >> 32) * bytes_ >> 32 : 0;
    switch (r % 16) {
      case 0:
      case 1:
      case 2:
      case 3:
        if (bytes_ > 0) work_[at] ^= static_cast<std::byte>(1u << (r >> 8 & 7));
        break;
      case 4:
      case 5:
      case 6:
        if (bytes_ > 0) work_[at] = static_cast<std::byte>(r >> 8);
        break;
      case 7:
        put_number(at, static_cast<std::uint32_t>(r >> 8));
        break;
      case 8:
        bytes_ -= std::min(bytes_, std::size_t{1});
        break;
      case 9:
        bytes_ = at;
        break;
      case 10:
        extend(1 + random_.below(8));
        break;
      case 11:
        splice(at);
        break;
      case 12:
        choice_ = static_cast<std::uint8_t>(r >> 8);
        break;
      case 13:
        d_ = random_.one_in(4) ? small_dimension() : std::min(d_ + 1, decode_dimensions - 1);
        break;
      case 14:
        d_ -= std::min(d_, std::size_t{1});
        break;
      default:
        all_random();
        break;
    }
  }

  // Numbers at which formulas break: not finite, subnormal, huge; and one from the bits given.
  void put_number(std::size_t at, std::uint32_t bits) {
    static constexpr std::array<std::uint32_t, 8> odd{0x7f800000, 0xff800000, 0x7fc00000,
                                                      0x00000001, 0x7f7fffff, 0x80000000,
                                                      0xffffffff, 0x7ff00000};
    const std::uint32_t number = bits % 3 == 0 ? bits : odd[bits % odd.size()];
    if (bytes_ >= sizeof number)
      std::memcpy(work_.data() + std::min(at, bytes_ - sizeof number), &number, sizeof number);
  }

  void extend(std::size_t count) {
    for (; count > 0 && bytes_ < work_.size(); --count)
      work_[bytes_++] = static_cast<std::byte>(random_());
  }

  void splice(std::size_t at) {
    const Bytes& other = inputs_[random_.below(inputs_.size())].payload;
    if (other.empty() || bytes_ == 0) return;
    const std::size_t from = random_.below(other.size());
    const std::size_t count = std::min({other.size() - from, bytes_ - at, 1 + random_.below(32)});
    std::memcpy(work_.data() + at, other.data() + from, count);
  }

  // Mostly of a length that can be right.
  void all_random() {
    if (random_.one_in(2)) bytes_ = std::min(codecs_[choice_]->payload_bytes(d_), most_payload);
    if (bytes_ > 512) return;  // it would cost more than the decoder
    for (std::size_t i = 0; i < bytes_; i += sizeof(std::uint64_t)) {
      const std::uint64_t r = random_();
      std::memcpy(work_.data() + i, &r, sizeof r);
    }
  }

  std::size_t kind_;
  Random& random_;
  std::array<std::unique_ptr<const Codec<T>>, 256> codecs_;
  std::vector<Input> inputs_;
  std::size_t valid_ = 0;  // the first so many are never replaced
  std::array<std::byte, most_payload + sizeof(std::uint64_t)> work_{};
  std::uint8_t choice_ = 0;
  std::size_t d_ = 0, bytes_ = 0;
  Guarded payload_{most_payload + sizeof(std::uint64_t)};
  Guarded row_{decode_dimensions * sizeof(T)};
  Bytes again_;
};

struct Codecs {
  Target<float> narrow;
  Target<double> wide;
};

// Adds the corpus of fuzz_decode to the codec's payloads.
void add_corpus(const fs::path& folder, std::size_t kind, Codecs& codecs) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    if (text.size() < decode_head_bytes || byte(0) >> 1 != static_cast<int>(kind)) continue;
    Input input{
        byte(3), (byte(1) | static_cast<std::size_t>(byte(2)) << 8) % decode_dimensions, {}};
    for (std::size_t i = decode_head_bytes; i < std::min(text.size(), most_payload); ++i)
      input.payload.push_back(static_cast<std::byte>(text[i]));
    if (byte(0) % 2 == 1)
      codecs.wide.add(std::move(input));
    else
      codecs.narrow.add(std::move(input));
  }
}

void hammer(std::size_t kind, std::uint64_t runs, const fs::path& corpus, std::uint64_t seed) {
  Random random(seed * 1000 + kind);
  Codecs codecs{{kind, random}, {kind, random}};
  if (!corpus.empty()) add_corpus(corpus, kind, codecs);
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t cpu_begin = std::clock();
  std::uint64_t accepted = 0;
  for (std::uint64_t run = 0; run < runs; ++run) {
    if (run % 65536 == 0) watch_for_a_hang(hang_s);
    accepted += run % 2 == 0 ? codecs.narrow.run() : codecs.wide.run();
  }
  watch_for_a_hang(0);
  const double cpu = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf(
      "%-24s %12llu runs %8.1f s of CPU %8.1f s %6.2f million per CPU second %6.2f %% accepted\n",
      name_of(choose_codec(static_cast<std::uint8_t>(kind), 0)).c_str(),
      static_cast<unsigned long long>(runs), cpu, wall, static_cast<double>(runs) / cpu / 1e6,
      100 * static_cast<double>(accepted) / static_cast<double>(runs));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t runs = 0, seed = 1;
  std::string corpus, codec;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--codec" && i + 1 < argc)
      codec = argv[++i];
    else if (word == "--seed" && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (runs == 0)
      runs = std::strtoull(argv[i], nullptr, 10);
    else
      corpus = word;
  }
  if (runs == 0) {
    std::fprintf(stderr, "usage: hammer RUNS [CORPUS] [--codec NAME] [--seed N]\n");
    return 64;
  }
  save_findings();
  bool any = false;
  for (std::size_t kind = 0; kind < fuzzed_codecs.size(); ++kind)
    if (codec.empty() || codec == name_of(choose_codec(static_cast<std::uint8_t>(kind), 0))) {
      hammer(kind, runs, corpus, seed);
      any = true;
    }
  if (!any) std::fprintf(stderr, "hammer: no codec is called %s\n", codec.c_str());
  return any ? 0 : 64;
}
