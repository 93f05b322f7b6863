// make_corpus DIR writes the corpus; make_corpus --check DIR compares it with the files in DIR. The
// corpus holds valid payloads and frames of every codec, and damaged ones. A fuzzer without a
// corpus would take hours to find them. The wire format is frozen, so the bytes are the same on any
// machine.
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>

#include "fuzz/choose_codec.hpp"
#include "fuzz/corpus_of_files.hpp"
#include "fuzz/mirror_input.hpp"
#include "ticopd/codecs/levels.hpp"
#include "ticopd/transport/frame.hpp"

namespace {

using namespace ticopd;
namespace fs = std::filesystem;

// Bits, scaled and a bucket; unscaled; k. Each codec uses some of these options and ignores others.
constexpr std::uint8_t choices[] = {0x17, 0x03, 0x2b, 0x52};

constexpr std::uint8_t coded_choices[] = {0x93, 0x96};  // entropy with 4 bits, elias with 7 bits

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Bytes bytes_of(std::initializer_list<std::size_t> values) {
  Bytes all;
  for (const std::size_t v : values) all.push_back(static_cast<std::byte>(v));
  return all;
}

Bytes flipped(Bytes b, std::size_t at, unsigned bit) {
  if (at < b.size()) b[at] ^= static_cast<std::byte>(1u << bit);
  return b;
}

Bytes cut(Bytes b) {
  if (!b.empty()) b.pop_back();
  return b;
}

// Zeros, both signs, and very different magnitudes.
template <class T>
std::vector<T> row(std::size_t d) {
  std::vector<T> v(d);
  for (std::size_t k = 0; k < d; ++k)
    v[k] = k % 4 == 3 ? T(0) : (k % 2 == 0 ? T(1) : T(-1)) / static_cast<T>(1 + k * k);
  return v;
}

template <class T>
Bytes payload(const CodecOptions& options, const MessageId& message, std::size_t d) {
  Bytes out;
  const std::vector<T> v = row<T>(d);
  if (!make_codec<T>(options)->encode(v, message, out))
    throw std::logic_error("the codec refuses a finite row");
  return out;
}

void add_decode(Corpus& all) {
  for (std::size_t kind = 0; kind < fuzzed_codecs.size(); ++kind)
    for (std::size_t n = 0; n < std::size(choices); ++n) {
      const bool wide = n % 2 == 1;
      const std::size_t d = n < 2 ? 21 : 70;
      const CodecOptions options = choose_codec(static_cast<std::uint8_t>(kind), choices[n]);
      const MessageId message{1, 2, 3, 0};  // the same message id as in fuzz_decode
      const Bytes body =
          wide ? payload<double>(options, message, d) : payload<float>(options, message, d);
      const Bytes head = bytes_of({kind * 2 + wide, d, 0, choices[n]});
      const std::string name = "decode/" + name_of(options) + "_" + std::to_string(n);
      all[name] = head + body;
      if (n == 0) all[name + "_cut"] = head + cut(body);
      if (n == 0) all[name + "_longer"] = head + body + bytes_of({0});
      if (n == 2) all[name + "_first_byte"] = head + flipped(body, 3, 6);  // of a norm or value
      if (n == 2) all[name + "_last_bit"] = head + flipped(body, body.size() - 1, 7);
    }
  for (std::size_t kind = 0; kind < fuzzed_codecs.size(); ++kind)
    for (const std::uint8_t choice : coded_choices) {
      const CodecOptions options = choose_codec(static_cast<std::uint8_t>(kind), choice);
      if (options.coding == Coding::fixed) continue;
      const std::size_t d = 400;
      const Bytes head = bytes_of({kind * 2, d % 256, d / 256, choice});
      const Bytes body = payload<float>(options, MessageId{1, 2, 3, 0}, d);
      const std::string name = "decode/" + name_of(options) +
                               (options.coding == Coding::entropy ? "_entropy" : "_elias");
      all[name] = head + body;
      all[name + "_cut"] = head + cut(body);
    }
  all["decode/no_row"] = bytes_of({0, 0, 0, 0});
}

// Inputs of fuzz_levels: valid and damaged messages, and the same levels as its other kind of
// input.
template <class Level>
void add_levels(Corpus& all, const std::string& name, std::uint32_t most, std::size_t d) {
  std::vector<Level> levels(d);
  Bytes signs((d + 7) / 8, std::byte{0x35}), rest;
  for (std::size_t k = 0; k < d; ++k)
    if (k % 3 == 0) levels[k] = static_cast<Level>(k % 24 == 0 ? most - k % 5 : 1 + k % 2);
  for (std::size_t k = 0; k < d; ++k) {
    rest.push_back(static_cast<std::byte>(levels[k]));
    if (k % 8 == 7) rest.push_back(signs[k / 8]);
  }
  const std::size_t wide = sizeof(Level) == 2 ? 4 : 0;
  for (std::size_t n = 0; n < 3; ++n) {
    constexpr std::array codings{Coding::entropy, Coding::elias, Coding::fixed};
    constexpr std::array words{"entropy", "elias", "fixed"};
    Bytes body;
    append_levels<Level>(codings[n], levels, signs, most, body);
    const Bytes head = bytes_of({n + wide, d % 256, d / 256, most % 256, most / 256});
    const std::string file = "levels/" + name + "_" + words[n];
    all[file] = head + body;
    all[file + "_cut"] = head + cut(body);
    all[file + "_table"] = head + flipped(body, 2, 3);
    all[file + "_last_bit"] = head + flipped(body, body.size() - 1, 7);
    all[file + "_levels"] = bytes_of({n + wide + 8, 0, 0, most % 256, most / 256}) + rest;
  }
}

void add_levels(Corpus& all) {
  add_levels<std::uint8_t>(all, "bytes", 15, 400);
  add_levels<std::uint8_t>(all, "few", 255, 7);
  add_levels<std::uint16_t>(all, "words", 65535, 600);
}

// The header that rank 0 of fuzz_mirror expects, except for the hash of the surrogate.
FrameHeader header(std::size_t d) {
  FrameHeader h;
  h.channel = 1;
  h.round = 3;
  h.agent = 1;
  h.d = d;
  return h;
}

void add_frame(Corpus& all) {
  for (std::size_t kind = 0; kind < fuzzed_codecs.size(); ++kind) {
    const CodecOptions options = choose_codec(static_cast<std::uint8_t>(kind), choices[0]);
    const Bytes body = payload<float>(options, MessageId{1, 3, 1, 1}, 7);
    const Bytes frame = make_frame(header(7), body);
    const std::string name = "frame/" + name_of(options);
    all[name] = frame;
    all[name + "_cut"] = cut(frame);
    all[name + "_longer"] = frame + bytes_of({0});
    all[name + "_checksum"] = flipped(frame, 48, 0);
    all[name + "_length"] = flipped(frame, 32, 1);
    all[name + "_body"] = flipped(frame, frame.size() - 1, 5);
  }
  for (const auto& [name, at] : std::map<std::string, std::size_t>{
           {"magic", 0}, {"version", 4}, {"type", 5}, {"precision", 20}, {"huge_length", 39}})
    all["frame/" + name] = flipped(make_frame(header(7), {}), at, 6);
  all["frame/header_only"] = make_frame(header(7), {});
  all["frame/empty"] = {};
  Bytes half = make_frame(header(7), {});
  half.resize(frame_header_bytes / 2);
  all["frame/half_a_header"] = half;
}

void add_mirror(Corpus& all) {
  for (std::size_t kind = 0; kind < fuzzed_codecs.size(); ++kind)
    for (std::size_t n = 0; n < std::size(choices); ++n) {
      const CodecOptions options = choose_codec(static_cast<std::uint8_t>(kind), choices[n]);
      const std::size_t d = mirror_dimensions[n], exchange = n % 4 * 64;
      const Bytes body = payload<float>(options, MessageId{1, 3, 1, 1}, d);
      const auto input = [&](std::size_t how, const Bytes& rest) {
        return bytes_of({kind + exchange, choices[n], n, how}) + rest;
      };
      const std::string name = "mirror/" + name_of(options) + "_" + std::to_string(n);
      all[name] = input(body_only, body);
      if (n != 1) continue;
      all[name + "_cut"] = input(body_only, cut(body));
      all[name + "_body"] = input(body_only, flipped(body, body.size() - 1, 7));
      all[name + "_hash"] = input(other_hash, body);
      all[name + "_frame"] = input(whole_frame, make_frame(header(d), body));
      const Bytes right(mirror_header_bytes);
      all[name + "_header"] = input(other_header, right + body);
      if (kind == 0)
        for (const auto& [field, at] : std::map<std::string, std::size_t>{{"type", 0},
                                                                          {"channel", 1},
                                                                          {"round", 3},
                                                                          {"agent", 11},
                                                                          {"precision", 15},
                                                                          {"dimension", 19}})
          all["mirror/other_" + field] = input(other_header, flipped(right, at, 0) + body);
    }
  all["mirror/no_frame"] = bytes_of({0, 0, 1, whole_frame});
  // A frame that is accepted unchanged: identity, d = 1, with the hash of its row.
  const Bytes one = payload<float>({}, MessageId{1, 3, 1, 1}, 1);
  FrameHeader h = header(1);
  h.surrogate = hash_row(one);
  all["mirror/right_frame"] = bytes_of({0, 0, 0, whole_frame}) + make_frame(h, one);
}

Bytes read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Bytes bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

void write(const fs::path& file, const Bytes& bytes) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc == 3 && std::string(argv[1]) == "--check";
  if (argc != 2 && !check) {
    std::fprintf(stderr, "usage: make_corpus [--check] DIR\n");
    return 64;
  }
  const fs::path folder = argv[argc - 1];
  Corpus all;
  add_decode(all);
  add_levels(all);
  add_frame(all);
  add_mirror(all);
  add_npy(all);
  add_idx(all);
  add_checkpoint(all);
  add_messages(all);
  add_session(all);
  add_site_checkpoint(all);
  add_signed_roster(all);
  for (const auto& [name, bytes] : all)
    if (!check) {
      write(folder / name, bytes);
    } else if (!fs::exists(folder / name) || read(folder / name) != bytes) {
      std::fprintf(stderr, "%s is not what make_corpus makes\n", (folder / name).c_str());
      return 1;
    }
  std::printf("%zu files\n", all.size());
  return 0;
}
