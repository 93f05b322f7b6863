// Checkpoints: a resumed run has the same digest, and damaged files are rejected.
#include "ticopd/run/checkpoint.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "network/every_algorithm.hpp"
#include "ticopd/error.hpp"
#include "ticopd/run/digest.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd::dense {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

class Checkpoint : public ::testing::TestWithParam<std::string> {
 protected:
  Checkpoint() {
    folder = fs::temp_directory_path() / ("ticopd_checkpoint_" + std::to_string(::getpid()));
    fs::create_directories(folder);
    file = folder / "checkpoint.safetensors";
  }
  ~Checkpoint() override { fs::remove_all(folder); }

  // The same over time-varying links, for methods that support them.
  template <class T>
  void expect_no_trace_over_links(const std::string& name) {
    const AlgorithmNeeds needs = algorithm_needs(options_of(name));
    if (needs.centre || needs.fixed_graph) return;
    ticopd::Setup<T> s = setup<T>(name);
    s.links = {.drop = 0.5};
    const auto run = algorithm<T>(name, s.graph);
    const Solution<T> whole = solve(run, s);
    for (const auto& [first, second] : {std::pair{1, 3}, {3, 1}}) {
      stopped(run, s, 13, first);
      const Solution<T> rest = resumed(run, s, second);
      EXPECT_EQ(rest.digest, whole.digest) << "ranks " << first << " then " << second;
    }
  }

  template <class T>
  ticopd::Setup<T> setup(std::string_view name) const {
    const CodecOptions options = codec_for(name, {.kind = "qsgd", .bits = 4});
    return {.graph = graph_for(name, erdos_renyi(7, 0.4, 2)),
            .objective = std::make_shared<LeastSquares<T>>(ProblemSize{7, 21, 12}),
            .codec = make_codec<T>(options),
            .batch = 4,
            .iterations = 40};
  }

  // Runs until round `at`, where it is asked to stop.
  template <class T>
  Solution<T> stopped(const RunFactory<T>& run, ticopd::Setup<T> s, std::uint32_t at,
                      int ranks) const {
    std::atomic<bool> stop = false;
    s.saving.file = file;
    s.watch.stop = &stop;
    s.execution.ranks = ranks;
    s.watch.on_round = [&](std::uint32_t round) { stop = round == at; };
    return solve(run, s);
  }
  template <class T>
  Solution<T> resumed(const RunFactory<T>& run, ticopd::Setup<T> s, int ranks) const {
    s.saving.file = file;
    s.saving.resume = true;
    s.execution.ranks = ranks;
    return solve(run, s);
  }

  template <class T>
  void expect_no_trace(const std::string& name) {
    const ticopd::Setup<T> s = setup<T>(name);
    const auto run = algorithm<T>(name, s.graph);
    const Solution<T> whole = solve(run, s);
    Generator random(Noise{8, 0, 0, stream_synthetic});
    for (const auto& [first, second] : {std::pair{1, 1}, {1, 3}, {3, 7}, {7, 1}}) {
      const auto at = static_cast<std::uint32_t>(1 + random.below(38));
      SCOPED_TRACE("stopped after round " + std::to_string(at) + ", ranks " +
                   std::to_string(first) + " then " + std::to_string(second));
      const Solution<T> part = stopped(run, s, at, first);
      EXPECT_FALSE(part.finished);
      EXPECT_EQ(part.rounds, first == 1 ? at : at + 1);  // the request takes one round to arrive
      EXPECT_FALSE(fs::exists(file.string() + ".tmp"));
      const Solution<T> rest = resumed(run, s, second);
      EXPECT_TRUE(rest.finished);
      EXPECT_EQ(rest.digest, whole.digest);
      EXPECT_EQ(std::memcmp(rest.x.data(), whole.x.data(), whole.x.bytes()), 0);
      ASSERT_EQ(rest.ledger.size(), whole.ledger.size());
      for (std::size_t i = 0; i < whole.ledger.size(); ++i) {
        EXPECT_EQ(rest.ledger[i].messages, whole.ledger[i].messages);
        EXPECT_EQ(rest.ledger[i].payload_bytes, whole.ledger[i].payload_bytes);
        EXPECT_EQ(rest.ledger[i].paper_bits, whole.ledger[i].paper_bits);
        EXPECT_EQ(rest.ledger[i].link_bytes, whole.ledger[i].link_bytes);
      }
    }
  }

  fs::path folder, file;
};

TEST_P(Checkpoint, InterruptionDoesNotChangeTheDigest) {
  expect_no_trace<float>(GetParam());
  expect_no_trace<double>(GetParam());
}

TEST_P(Checkpoint, InterruptionDoesNotChangeTheDigestOverTimeVaryingLinks) {
  expect_no_trace_over_links<float>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Every, Checkpoint, ::testing::ValuesIn(algorithm_names()),
                         [](const auto& name) { return name.param; });

class CheckpointFile : public Checkpoint {
 protected:
  CheckpointFile() : s(setup<float>("ticopd")), run(algorithm<float>("ticopd", s.graph)) {
    stopped(run, s, 11, 1);
    bytes = read(file);
  }
  ticopd::Setup<float> s;
  RunFactory<float> run;
  std::string bytes;
};
INSTANTIATE_TEST_SUITE_P(One, CheckpointFile, ::testing::Values("ticopd"));

TEST_P(CheckpointFile, EveryTruncationIsRejected) {
  for (std::size_t length = 0; length < bytes.size(); length += 1 + length / 40) {
    write(file, bytes.substr(0, length));
    EXPECT_THROW(resumed(run, s, 1), FormatError) << length << " of " << bytes.size() << " bytes";
  }
  write(file, bytes.substr(0, bytes.size() - 1));
  EXPECT_THROW(resumed(run, s, 1), FormatError);
}

TEST_P(CheckpointFile, EveryBitFlipInTheHeaderIsRejected) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  ASSERT_LT(length, bytes.size());
  std::fstream in_place(file, std::ios::in | std::ios::out | std::ios::binary);
  const auto put = [&](std::size_t at, int byte) {  // some thousand whole files would take seconds
    in_place.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(byte)).flush();
    ASSERT_TRUE(in_place.good());
  };
  for (std::size_t at = 0; at < 8 + length; ++at) {
    if (at > 0) put(at - 1, bytes[at - 1]);
    put(at, bytes[at] ^ (1 << (at % 8)));
    EXPECT_THROW(read_checkpoint_notes(file), FormatError)
        << "byte " << at << ": " << bytes.substr(at, 20);
  }
}

TEST_P(CheckpointFile, AnotherAlgorithmPrecisionOrSizeIsRejected) {
  EXPECT_THROW(resumed(algorithm<float>("beer", s.graph), s, 1), FormatError);
  const auto other = setup<double>("ticopd");
  EXPECT_THROW(resumed(algorithm<double>("ticopd", s.graph), other, 1), ConfigError);
  s.objective = std::make_shared<LeastSquares<float>>(ProblemSize{7, 22, 12});
  EXPECT_THROW(resumed(run, s, 1), ConfigError);  // its start has another length
}

TEST_P(CheckpointFile, MissingFolderIsADiskError) {
  file = folder / "missing" / "checkpoint.safetensors";
  EXPECT_THROW(stopped(run, s, 3, 1), DiskError);
  EXPECT_THROW(stopped(run, s, 3, 3), DiskError)
      << "the rank that failed tells why, the others only lost it";
}

TEST_P(CheckpointFile, ResumeWithoutACheckpointStartsFromTheBeginning) {
  fs::remove(file);
  EXPECT_EQ(resumed(run, s, 1).digest, solve(run, s).digest);
}

TEST_P(CheckpointFile, IsSavedEveryGivenNumberOfRounds) {
  s.saving.file = file;
  s.saving.every = 15;
  int calls = 0;
  s.saving.before = [&] { ++calls; };
  const std::string digest = solve(run, s).digest;
  EXPECT_EQ(calls, 3) << "after 15, 30 and the last";
  EXPECT_EQ(read_checkpoint_notes(file).at("round"), "40");
  EXPECT_EQ(resumed(run, s, 3).digest, digest) << "a finished run has nothing left to do";
}

// A file whose header was changed by someone who knows the format: its hash is right.
std::string with_header(const std::string& bytes,
                        const std::function<void(nlohmann::json&)>& change) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  nlohmann::json header = nlohmann::json::parse(bytes.substr(sizeof length, length));
  change(header);
  header["__metadata__"].erase("check");
  std::string text = header.dump();
  header["__metadata__"]["check"] =
      fmt::format("{:016x}", hash_row(std::as_bytes(std::span(text))));
  text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::string rest = bytes.substr(sizeof length + length);
  length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text + rest;
}

TEST_P(CheckpointFile, TensorsOutsideTheFileAreRejected) {
  using nlohmann::json;
  const auto offsets = [&](const json& list) {
    return with_header(bytes, [&](json& header) { header["x"]["data_offsets"] = list; });
  };
  const std::uint64_t size = 7 * 12 * sizeof(float);
  write(file, with_header(bytes, [](json&) {}));
  EXPECT_EQ(resumed(run, s, 1).digest, solve(run, s).digest)
      << "a header that is only written again";
  // The first pairs are as far from each other as they should be, once they wrap around.
  for (const json& list :
       {json{0 - std::uint64_t{8}, size - 8}, json{-8, size - 8}, json{0.0, size}, json{size, 0},
        json{0, size, size}, json{1, size}, json(size), json()}) {
    write(file, offsets(list));
    try {
      resumed(run, s, 1);
      ADD_FAILURE() << "accepted: " << list;
    } catch (const FormatError& e) {
      EXPECT_EQ(e.what(), file.string() + ": tensor \"x\" does not fit the file") << list;
    }
  }
}

TEST_P(CheckpointFile, DigestStateThatWouldLeadOutOfTheHashIsRejected) {
  constexpr std::size_t word_digits = 8;  // of four bytes
  const std::string right = Digest().state();
  const std::size_t begin = right.find(':') + 1, words = (right.size() - begin) / word_digits;
  const auto restored_digest = [](const std::string& state) {
    Digest digest = Digest::restore(state);
    return digest.hex();
  };
  EXPECT_EQ(restored_digest(right), Digest().hex());
  int refused = 0;
  for (std::size_t word = 0; word < words; ++word) {
    std::string state = right;
    state.replace(begin + word * word_digits, word_digits, "ffffff7f");
    try {
      restored_digest(state);  // a sanitizer sees if this reads beyond its secret or buffer
    } catch (const FormatError&) {
      ++refused;
    }
  }
  // The sizes: of the buffer and useSeed one word each, stripes so far, stripes in a block, the
  // secret's end and the seed two each.
  EXPECT_EQ(refused, 10);
}

}  // namespace
}  // namespace ticopd::dense
