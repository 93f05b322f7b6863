// Inputs of the fuzz targets of sites: messages, steps of sessions, edits of a site's checkpoint,
// signed rosters.
#include <initializer_list>

#include "fuzz/corpus_of_files.hpp"
#include "fuzz/site_edits.hpp"
#include "ticopd/site/messages.hpp"
#include "ticopd/site/signed_roster.hpp"

namespace ticopd {
namespace {

Bytes bytes_of(const std::string& text) {
  return to_bytes<char>(text);
}

std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

char code(SiteEdit edit) {
  return static_cast<char>(edit);
}

// A value of the head at this path; the last byte of a path to a table or list is -1.
std::string value_at(const std::string& path, const std::string& json) {
  return code(SiteEdit::value) + path + '\x7f' + static_cast<char>(json.size()) + json;
}

constexpr char stop = -1;

// The keys of the head in the order of their names.
enum Key : char { ledger, logged, network, round_made, seconds, sessions, tensors };
enum SessionKey : char { consumed, outbox, sent, trimmed };

}  // namespace

void add_messages(Corpus& all) {
  const auto add = [&](const std::string& name, const std::string& input) {
    all["messages/" + name] = bytes_of(input);
  };
  Message m{.type = MessageType::data,
            .network = 7,
            .from = 1,
            .to = 2,
            .sequence = 3,
            .chain = 4,
            .offset = 5,
            .length = 20,
            .channel = 6,
            .body = bytes_of("a body")};
  const std::string data = '\1' + text_of(encode(m));
  add("data", data);
  add("data_cut", data.substr(0, data.size() - 1));
  add("data_longer", data + '\0');
  add("header_cut", data.substr(0, 50));
  m.offset = 15;
  add("piece_behind_the_end", '\1' + text_of(encode(m)));
  for (const MessageType type :
       {MessageType::hello, MessageType::welcome, MessageType::have, MessageType::done}) {
    m = {.type = type, .network = 7, .from = 1, .to = 2, .nonce = 9, .sequence = 3, .safe = 2};
    add("of_type_" + std::to_string(static_cast<int>(type)), '\1' + text_of(encode(m)));
    m.gap = true;
    m.safe = 4;
    add("more_safe_than_came_" + std::to_string(static_cast<int>(type)), '\1' + text_of(encode(m)));
  }
  add("empty", "");
  // Fields: which, and its number or bytes.
  add("fields_of_data", {0, 0, 3, 2, 7, 3, 1, 4, 2, 6, 5, 11, 4, 13, 4, 'b', 'o', 'd', 'y'});
  add("fields_and_a_flipped_bit", {2, 0, 4, 6, 9, 8, 9, 12});
  add("length_that_wraps",
      {0,  0,    3,    11,   stop, stop, stop, stop, stop, stop, stop, stop, stop,
       10, stop, stop, stop, stop, stop, stop, stop, stop, stop, 13,   1,    'x'});
}

// A step: what it does, and 16 times the site. See fuzz_session.cpp.
void add_session(Corpus& all) {
  const auto add = [&](const std::string& name, char hostile, const std::string& steps) {
    all["session/" + name] = bytes_of(hostile + steps);
  };
  const auto step = [](int what, std::initializer_list<int> more = {}) {
    std::string bytes(1, static_cast<char>(what));
    for (const int byte : more) bytes += static_cast<char>(byte);
    return bytes;
  };
  constexpr int other = 16, all_of_them = 6 * 16;
  const std::string push = step(0), push_other = step(other), say = step(5 + all_of_them),
                    say_other = step(5 + other + all_of_them + 96), time = step(10, {60}),
                    save = step(11), save_other = step(11 + other), again = step(12, {1}),
                    again_other = step(12 + other, {1}), pop = step(3, {0}),
                    pop_other = step(3 + other, {0});
  std::string hello = say + say_other + say + say_other + time;
  std::string frames;
  for (int i = 0; i < 6; ++i) frames += push + push_other;
  const std::string talk = hello + frames + say + say_other + say + say_other;
  for (const char hostile : {'\0', '\1'}) {
    const std::string by = hostile == 0 ? "" : "_lies";
    add("hello" + by, hostile, hello);
    add("talk" + by, hostile, talk + pop_other + pop + pop_other + pop);
    add("saved_twice_and_started_again" + by, hostile,
        talk + pop_other + save_other + say + pop_other + save_other + say_other + again_other +
            hello + frames);
    add("both_started_again" + by, hostile, talk + again + again_other + hello + frames + talk);
    add("older_checkpoint" + by, hostile,
        talk + pop + save + pop + save + say + std::string{12, 0} + hello + frames);
    add("messages_again" + by, hostile, talk + std::string{8, 0, 8, 3, 8, 2, 8, 5, 8, 6, 8, 1});
    add("strangers" + by, hostile,
        talk + std::string{13, 2, 0, 1, 5, 3, 13, 3, 0, 2, 4, 1, 6, 9, 13, 1, 0, 3} + talk);
    add("done" + by, hostile, talk + pop + pop_other + std::string{14, 0, 30, 0} + say + say_other);
  }
  // The neighbour changes a field of what it said before.
  for (char field = 0; field < 14; ++field)
    for (const int number : {0, 3, 239})
      add("changed_" + std::to_string(field) + "_" + std::to_string(number), 1,
          talk + step(15, {4, 0, field, number, 15, 9, 0, field, number}) + talk + time + say +
              time + say + save);
}

void add_site_checkpoint(Corpus& all) {
  const auto add = [&](const std::string& name, std::uint8_t choices, const std::string& edits) {
    all["site_checkpoint/" + name] = bytes_of(static_cast<char>(choices) + edits);
  };
  for (std::uint8_t run = 0; run < 3; ++run) {
    add("right_" + std::to_string(run), run | site_again, "");
    add("damaged_beside_a_right_one_" + std::to_string(run), run | site_hash | site_two, "");
  }
  add("damaged", site_hash, "");
  for (const char* number : {"0", "4", "6", "7", "-1", "4294967296", "2.5", "null"})
    add("round_" + std::string(number), 0, value_at({round_made}, number));
  add("network_other", 0, value_at({network}, "8"));
  add("seconds_not_finite", 0, value_at({seconds}, "1e999"));
  add("seconds_negative", 0, value_at({seconds}, "-1e300"));
  add("ledger_a_table", 0, value_at({ledger, stop}, "{\"a\": 1, \"b\": 2}"));
  add("ledger_of_one_agent", 0, value_at({ledger, stop}, "[{}]"));
  add("ledger_of_numbers", 0, value_at({ledger, stop}, "[1, 2]"));
  add("ledger_links", 0, value_at({ledger, 0, 0, stop}, "[1,2,3,4,5,6,7]"));
  add("ledger_count_huge", 0, value_at({ledger, 0, 2}, "18446744073709551615"));
  add("logged_a_number", 0, value_at({logged, stop}, "3"));
  add("logged_no_hash", 0, value_at({logged, 0, 1, 0}, "\"xyz\""));
  add("logged_one_row", 0, value_at({logged, 0, 1, stop}, "[]"));
  add("logged_later_round", 0, value_at({logged, 1, 0}, "5"));
  add("logged_many", 0, value_at({logged, stop}, "[[0,[],\"\"],[0,[],\"\"],[0,[],\"\"]]"));
  add("no_sessions", 0, value_at({sessions, stop}, "[]"));
  add("sessions_of_other_sites", 0, value_at({sessions, stop}, "[{},{}]"));
  for (const SessionKey key : {consumed, sent, trimmed})
    for (const char* number : {"0", "1", "1000", "9223372036854775807", "18446744073709551615"})
      add("session_" + std::to_string(key) + "_" + number, 0,
          value_at({sessions, 1, key, 0}, number));
  add("session_all_at_the_end", 0,
      value_at({sessions, 1, sent, 0}, "18446744073709551615") +
          value_at({sessions, 1, trimmed, 0}, "18446744073709551615") +
          value_at({sessions, 1, outbox, stop}, "[]"));
  add("session_chain", 0, value_at({sessions, 1, consumed, 1}, "5"));
  add("outbox_empty", 0, value_at({sessions, 1, outbox, stop}, "[]"));
  add("outbox_frame_huge", 0, value_at({sessions, 1, outbox, 0, 1}, "18446744073709551615"));
  add("outbox_frame_short", 0, value_at({sessions, 1, outbox, 0, 1}, "3"));
  add("outbox_channel", 0, value_at({sessions, 1, outbox, 0, 0}, "4294967295"));
  add("tensors_none", 0, value_at({tensors, stop}, "[]"));
  add("tensor_of_other_rows", 0, value_at({tensors, 0, 1}, "7"));
  add("row_not_finite", 0, {code(SiteEdit::resize_body), 0, 0});
  add("frame_bytes", 1, {code(SiteEdit::body_bytes), 3, 0, 4, 1, 2, 3, 4});
  add("row_bytes", 1, {code(SiteEdit::body_bytes), stop, 0, 4, 0, 0, stop, 0x7f});
  add("key_renamed", 0, {code(SiteEdit::key), seconds, 1, 's'});
  add("head_a_list", 0, value_at({stop}, "[]"));
  add("empty_file", site_case, "");
  add("bare", site_case, std::string("TCSITE1\n\2\0\0\0\0\0\0\0{}12345678", 26));
}

void add_signed_roster(Corpus& all) {
  const auto add = [&](const std::string& name, const Bytes& bytes) {
    all["signed_roster/" + name] = bytes;
  };
  const std::string right = signature_text("@operator", "@signature");
  const auto roster = [](const std::string& head, const std::string& address = "127.0.0.1:7400",
                         const std::string& theta = "1") {
    return head + R"(
[[site]]
name = "a"
agents = [0, 1]
address = ")" +
           address + R"("
key = "=!J{R8z%cLq0E0GvZnYpDI3h>5/0-T{gv/V/Z^3Y"
[[site]]
name = "b"
agents = [2, 3]
key = "ha11eo)arB!QU[KKphBuKpcVo*38A@5JpYF9y=?s"
[config]
name = "pair"
graph = {kind = "ring", agents = 4}
problem = {data = "synthetic", samples = 12, features = 2, partition = "iid"}
algorithm = {name = "ticopd", alpha = 0.1, theta = )" +
           theta + R"(, eta = 0.1}
)";
  };
  const std::string moved = roster("version = 2\nepoch = 1", "[::1]:7400");
  add("other_address", pack({moved, right}));
  add("next_epoch",
      pack({roster("version = 3\nepoch = 2\nschedules_after = 4", "a:7400", "2"), right}));
  add("next_epoch_of_the_same_run", pack({roster("version = 2\nepoch = 9"), right}));
  add("same_version", pack({roster("version = 1\nepoch = 1"), right}));
  add("other_run_of_one_epoch", pack({roster("version = 2\nepoch = 1", "a:7400", "2"), right}));
  add("schedules_in_the_first_epoch",
      pack({roster("version = 2\nepoch = 1\nschedules_after = 4"), right}));
  add("other_operator", pack({moved, signature_text(std::string(40, '0'), "@signature")}));
  add("signature_of_zeros", pack({moved, signature_text("@operator", std::string(80, '0'))}));
  add("signature_short", pack({moved, signature_text("@operator", "00000")}));
  add("no_signature", pack({moved, ""}));
  add("no_text", pack({"", right}));
  add("no_roster", pack({right, right}));
  Bytes longer = pack({moved, right});
  for (std::size_t i = 0; i < sizeof(std::uint32_t); ++i) longer[i] = std::byte{0xff};
  add("signature_longer_than_all", longer);
  add("nothing", {});
  add("part_of_the_length", Bytes(3));
  add("length_alone", Bytes(sizeof(std::uint32_t)));
}

}  // namespace ticopd
