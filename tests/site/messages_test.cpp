// Messages between sites, the bytes of checkpoints, and the folder that holds them.
#include "ticopd/site/messages.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "network/every_algorithm.hpp"
#include "ticopd/error.hpp"
#include "ticopd/network/cpu.hpp"
#include "ticopd/run/surroundings.hpp"
#include "ticopd/site/disk_store.hpp"
#include "ticopd/site/generations.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

Message data_message() {
  Message m{.type = MessageType::data,
            .network = 1,
            .from = 2,
            .to = 3,
            .sequence = 4,
            .chain = 5,
            .offset = 6,
            .length = 100,
            .channel = 7};
  m.body = Bytes(20, std::byte{42});
  return m;
}

TEST(SiteMessage, ComesBack) {
  EXPECT_EQ(decode_message(encode(data_message())), data_message());
  const Message have{.type = MessageType::have, .from = 1, .to = 2, .sequence = 9, .safe = 3};
  EXPECT_EQ(decode_message(encode(have)), have);
}

TEST(SiteMessage, RejectsEveryBitFlipAndEveryTruncation) {
  const Bytes whole = encode(data_message());
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes flipped = whole;
    flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(decode_message(flipped)) << bit;
  }
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(decode_message(SharedBytes(whole).part(0, size)));
  Bytes longer = whole;
  longer.push_back({});
  EXPECT_FALSE(decode_message(longer));
}

TEST(SiteMessage, RejectsPiecesThatAreNoneAndNumbersThatCannotBe) {
  Message m = data_message();
  m.offset = 90;  // 20 bytes more would end behind the frame
  EXPECT_FALSE(decode_message(encode(m)));
  m = data_message();
  m.offset = ~0ull;
  EXPECT_FALSE(decode_message(encode(m)));
  m = data_message();
  m.body = Bytes(piece_bytes + 1);
  m.length = m.body.size();
  EXPECT_FALSE(decode_message(encode(m)));
  const Message more_safe{.type = MessageType::have, .sequence = 3, .safe = 4};
  EXPECT_FALSE(decode_message(encode(more_safe)));
}

// A frame is hashed once, and the hash goes with it.
TEST(SiteMessage, BodyIsAPartOfTheMessageAndHasItsOwnHash) {
  const SharedBytes whole = encode(data_message());
  const auto m = decode_message(whole);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->body.data(), whole.data() + message_header_bytes);
  EXPECT_EQ(m->body.hash(), hash_row(std::span(m->body)));
  EXPECT_EQ(m->body.part(0, 20).hash(), m->body.hash());
  EXPECT_EQ(m->body.part(1, 7).hash(), hash_row(std::span(m->body).subspan(1, 7)));
  EXPECT_NE(m->body.part(1, 7).hash(), m->body.hash());
}

TEST(SiteMessage, OnlySomeTypesHaveABody) {
  Message m{.type = MessageType::ended};
  EXPECT_FALSE(decode_message(encode(m))) << "no reason";
  m.body = Bytes(most_reason_bytes);
  EXPECT_EQ(decode_message(encode(m)), m);
  m.body = Bytes(most_reason_bytes + 1);
  EXPECT_FALSE(decode_message(encode(m)));
  m.type = MessageType::roster;
  EXPECT_EQ(decode_message(encode(m)), m);
  m.type = MessageType::differs;
  EXPECT_FALSE(decode_message(encode(m)));
}

TEST(SiteMessage, OtherVersionsAreKnownAndNotRead) {
  Bytes bytes = encode(data_message());
  EXPECT_EQ(versions_of(bytes), own_versions);
  bytes[4] = std::byte{9};
  EXPECT_EQ(versions_of(bytes)->protocol, 9);
  EXPECT_FALSE(decode_message(bytes));
  EXPECT_FALSE(versions_of(std::span(bytes).first(5)));
  EXPECT_FALSE(versions_of(Bytes(200)));
}

TEST(SiteCheckpoint, RejectsEveryTruncationAndEveryBitFlip) {
  SiteState state{.round = 3,
                  .network = 7,
                  .ledger = nlohmann::json::array(),
                  .logged = {},
                  .sessions = {},
                  .seconds = 1};
  state.logged.push_back({1, {RowHash{}}, "1,2,3"});
  SessionRecord record{.consumed = 1, .sent = 2, .trimmed = 1};
  record.outbox.push_back({0, Bytes(5), 9});
  state.sessions.push_back(record);
  const ticopd::Setup<float> setup{
      .graph = ring(4),
      .objective = std::make_shared<dense::LeastSquares<float>>(dense::ProblemSize{4, 6, 3})};
  Alone alone;
  Pool pool(1);
  CpuNetwork<float> net(surroundings_of(setup, alone, pool));
  const auto run = dense::algorithm<float>("ticopd", setup.graph)(net);
  const Bytes whole = encode_state(state, *run);
  const SiteState again = decode_state(whole);
  EXPECT_EQ(again.round, 3u);
  EXPECT_EQ(again.logged.at(0).metrics, "1,2,3");
  EXPECT_EQ(again.sessions.at(0).outbox.at(0).frame, Bytes(5));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW(decode_state(std::span(whole).first(size)), FormatError) << size;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes flipped = whole;
    flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_THROW(decode_state(flipped), FormatError) << bit;
  }
}

TEST(DiskStore, WritesReadsRenamesAndRemoves) {
  const ScratchFolder folder = ScratchFolder::anywhere();
  DiskStore store(folder.path());
  const Bytes bytes(1000, std::byte{7});
  store.write("a.tmp", bytes);
  store.sync("a.tmp");
  store.rename("a.tmp", "a");
  store.sync_folder();
  EXPECT_EQ(store.list(), std::vector<std::string>{"a"});
  EXPECT_EQ(store.read("a"), bytes);
  EXPECT_THROW(store.sync("a"), DiskError) << "a flush is not tried twice";
  store.remove("a");
  store.remove("a");
  EXPECT_TRUE(store.list().empty());
  EXPECT_THROW(store.read("a"), Error);
}

TEST(DiskStore, DoesNotWriteThroughALink) {
  const ScratchFolder folder = ScratchFolder::anywhere();
  std::ofstream(folder.path() / "theirs") << "precious";
  fs::create_symlink(folder.path() / "theirs", folder.path() / "a.tmp");
  DiskStore store(folder.path());
  store.write("a.tmp", Bytes(3));
  EXPECT_EQ(read_bytes(folder.path() / "theirs"), "precious");
}

// As when strangers have connected to this process until it may open nothing more.
// The thread begins before no file can be opened: until then UBSan opens pipes, and takes objects
// for none if it cannot.
TEST(DiskStore, WaitsUntilAFileMayBeOpened) {
  const ScratchFolder folder = ScratchFolder::anywhere();
  DiskStore store(folder.path());
  std::vector<Descriptor> all;
  std::atomic<bool> full = false;
  std::thread later([&] {
    full.wait(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    all.clear();
  });
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 64;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) all.emplace_back(fd);
  full = true;
  full.notify_one();
  EXPECT_NO_THROW(store.write("a", Bytes(10)));
  later.join();
  EXPECT_NO_THROW(store.sync("a"));
  EXPECT_NO_THROW(store.sync_folder());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(DiskStore, AFolderThatIsGoneIsADiskError) {
  DiskStore store("/nonexistent/folder");
  EXPECT_THROW(store.list(), DiskError);
  EXPECT_THROW(store.write("a", Bytes(1)), DiskError);
  EXPECT_THROW(store.sync_folder(), DiskError);
}

// A damaged newest checkpoint is passed over; the older one is there.
TEST(DiskStore, GenerationsFindTheNewestWholeCheckpoint) {
  const ScratchFolder folder = ScratchFolder::anywhere();
  DiskStore store(folder.path());
  const ticopd::Setup<float> setup{
      .graph = ring(4),
      .objective = std::make_shared<dense::LeastSquares<float>>(dense::ProblemSize{4, 6, 3})};
  Alone alone;
  Pool pool(1);
  CpuNetwork<float> net(surroundings_of(setup, alone, pool));
  const auto run = dense::algorithm<float>("ticopd", setup.graph)(net);
  {
    Generations generations(store);
    EXPECT_FALSE(generations.newest());
    for (std::uint32_t round : {1u, 2u, 3u})
      generations.write(encode_state(
          {.round = round, .ledger = nlohmann::json::array(), .logged = {}, .sessions = {}}, *run));
  }
  EXPECT_EQ(store.list().size(), 2u);
  const fs::path newest = folder.path() / store.list().back();
  fs::resize_file(newest, fs::file_size(newest) / 2);
  std::ofstream(folder.path() / "site.000000000009.checkpoint.tmp") << "cut off";
  Generations generations(store);
  const auto found = generations.newest();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->state.round, 2u);
}

}  // namespace
}  // namespace ticopd
