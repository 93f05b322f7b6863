#include "fuzz/corpus_of_files.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "fuzz/checkpoint_edits.hpp"
#include "ticopd/data/npy.hpp"

namespace ticopd {
namespace {

Bytes bytes_of(const std::string& text) {
  return to_bytes<char>(text);
}

std::string npy_file(const std::string& dictionary, const std::string& values) {
  const std::string size{static_cast<char>(dictionary.size() & 0xff),
                         static_cast<char>(dictionary.size() >> 8)};
  return std::string("\x93NUMPY\x01", 7) + '\0' + size + dictionary + values;
}

template <class V>
std::string npy_file(const std::vector<std::size_t>& shape, const std::vector<V>& values) {
  return npy_head<V>(shape) +
         std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(V));
}

std::string idx_file(const std::vector<std::uint32_t>& shape, const std::string& values) {
  std::string bytes{0, 0, 8, static_cast<char>(shape.size())};
  for (const std::uint32_t extent : shape)
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(extent >> shift & 0xff);
  return bytes + values;
}

// The notes of the first run of fuzz_checkpoint, in the order of their names.
enum Note : char {
  bits_before,
  check,
  config,
  digest,
  first_loss,
  hashes_of_dual,
  hashes_of_x,
  hashes_of_xhat,
  inputs,
  ledger,
  logged,
  machine,
  parts,
  round_made,
  seconds,
  made_by
};

constexpr char stop = -1;  // 255: replaces the value here instead of going deeper

char code(CheckpointEdit edit) {
  return static_cast<char>(edit);
}

std::string counted(const std::string& text) {
  return static_cast<char>(text.size()) + text;
}

// The value that the input spells out.
std::string spelt(const std::string& json) {
  return '\x7f' + counted(json);
}

std::string text_of(Note note, const std::string& text) {
  return std::string{code(CheckpointEdit::text_of_note), note} + counted(text);
}

std::string value_in(Note note, const std::string& path, const std::string& json) {
  return std::string{code(CheckpointEdit::value_in_note), note} + path + spelt(json);
}

std::string digest_word(char word, char low, char high) {
  return {code(CheckpointEdit::digest_word), word, low, 0, 0, high};
}

}  // namespace

void add_npy(Corpus& all) {
  const std::string usual = npy_file<double>({2, 3}, {0, -1.5, 2, 1e-300, 4, 5});
  const auto add = [&](const std::string& name, const std::string& file) {
    all["npy/" + name] = bytes_of(file);
  };
  add("doubles", usual);
  add("floats", npy_file<float>({3}, {1, 2, 3}));
  add("bytes", npy_file<std::uint8_t>({1, 2, 2}, {0, 1, 128, 255}));
  add("no_items", npy_file<double>({0, 5}, {}));
  add("one_number", npy_file<double>({}, {7}));
  add("cut", usual.substr(0, usual.size() - 1));
  add("longer", usual + '\0');
  add("header_cut", usual.substr(0, 30));
  add("not_finite", npy_file<float>({1}, {1.0f / 0.0f}));
  const auto head = [](const std::string& type, const std::string& order,
                       const std::string& shape) {
    return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': (" + shape +
           "), }\n";
  };
  add("whole_numbers", npy_file(head("<i4", "False", "2,"), std::string(8, '\1')));
  add("long_numbers", npy_file(head("<i8", "False", "1,"), std::string(8, '\xff')));
  add("columns_first", npy_file(head("<f8", "True", "1,"), std::string(8, '\0')));
  add("objects", npy_file(head("|O", "False", "1,"), std::string(8, '\0')));
  add("big_endian", npy_file(head(">f8", "False", "1,"), std::string(8, '\0')));
  add("huge_shape", npy_file(head("<f8", "False", "4294967296, 4294967296"), ""));
  add("shape_that_wraps",
      npy_file(head("<f8", "False", "2305843009213693953,"), std::string(8, '\0')));
  add("negative_shape", npy_file(head("<f8", "False", "-1,"), ""));
  add("no_shape", npy_file("{'descr': '<f8', 'fortran_order': False}", ""));
  add("records", npy_file("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", ""));
  std::string second = usual;
  second[6] = 2;
  add("version_2_of_version_1", second);
}

void add_idx(Corpus& all) {
  const auto add = [&](const std::string& name, const std::string& file) {
    all["idx/" + name] = bytes_of(file);
  };
  const std::string usual = idx_file({2, 2, 3}, "abcdefghijkl");
  add("images", usual);
  add("labels", idx_file({4}, std::string("\0\1\2\1", 4)));
  add("no_items", idx_file({0, 28, 28}, ""));
  add("no_dimensions", idx_file({}, ""));
  add("cut", usual.substr(0, usual.size() - 1));
  add("longer", usual + "m");
  add("header_cut", usual.substr(0, 9));
  add("huge", idx_file({0xffffffff, 0xffffffff, 0xffffffff}, "abc"));
  add("size_that_wraps", idx_file({0x80000000, 0x80000000, 4}, ""));
  std::string floats = usual;
  floats[2] = 0x0d;
  add("of_floats", floats);
  add("many_dimensions", idx_file(std::vector<std::uint32_t>(255, 1), "a"));
  add("not_idx", "\x89PNG\r\n\x1a\n");
}

void add_checkpoint(Corpus& all) {
  const auto add = [&](const std::string& name, std::uint8_t choices, const std::string& edits) {
    all["checkpoint/" + name] = bytes_of(static_cast<char>(choices) + edits);
  };
  for (std::uint8_t run = 0; run < 3; ++run)
    add("right_" + std::to_string(run), run | checkpoint_save, "");
  add("round_of_the_end", 0, text_of(round_made, "6"));
  add("round_behind_the_end", 0, text_of(round_made, "7"));
  add("round_negative", 0, text_of(round_made, "-1"));
  add("round_huge", 0, text_of(round_made, "4294967296"));
  add("logged_behind_the_round", 0, text_of(logged, "4"));
  add("no_config_no_inputs", 0,
      {code(CheckpointEdit::remove_note), config, code(CheckpointEdit::remove_note), inputs - 1});
  add("no_parts", 0, {code(CheckpointEdit::remove_note), parts});
  add("no_digest", 0, {code(CheckpointEdit::remove_note), digest});
  add("seconds_not_finite", 0, text_of(seconds, "1e999"));
  add("first_loss_a_word", 0, text_of(first_loss, "\"low\""));
  add("ledger_of_two_agents", 0, text_of(ledger, "[{},{}]"));
  add("ledger_without_links", 0, value_in(ledger, {1, 0, stop}, "[]"));
  add("ledger_with_many_links", 0, value_in(ledger, {1, 0, stop}, "[1,2,3,4,5,6,7,8,9]"));
  add("ledger_count_negative", 0, value_in(ledger, {0, 0, 0}, "-1"));
  add("ledger_count_huge", 0, value_in(ledger, {2, 5}, "18446744073709551615"));
  add("parts_of_numbers", 0, text_of(parts, "[1,2,3]"));
  add("parts_without_rounds", 0, text_of(parts, "[{\"device\": 5}]"));
  add("inputs_a_list", 0, text_of(inputs, "[[],[]]"));
  add("inputs_of_other_types", 0, text_of(inputs, "{\"agents\": [1, [], null], \"graph\": 3}"));
  add("machine_a_number", 0, text_of(machine, "17"));
  add("bits_before_negative", 0, text_of(bits_before, "-1e300"));
  add("deep_note", 0, text_of(inputs, std::string(100, '[') + std::string(100, ']')));
  for (char word = 0; word < 16; ++word)
    add("digest_word_" + std::to_string(word), 0, digest_word(word, -1, 0x7f));
  add("digest_one_stripe_more", 0, digest_word(12, 17, 0));
  add("digest_no_hex", 0, {code(CheckpointEdit::splice_note), digest, 40, 0, 2, 'x', 'y'});
  add("shape_of_other_rows", 1, {code(CheckpointEdit::value_in_entry), 0, 2, 0, 7});
  add("offsets_wrap", 0,
      std::string{code(CheckpointEdit::value_in_entry), 1, 0, stop} +
          spelt("[18446744073709551608, 28]"));
  add("entry_a_list", 2, std::string{code(CheckpointEdit::value_in_entry), 0, stop} + spelt("[]"));
  add("row_not_finite", 0, {code(CheckpointEdit::data_bytes), 0, 0, 4, 0, 0, stop, 0x7f});
  add("row_damaged", checkpoint_rows, {code(CheckpointEdit::data_bytes), 0, 0, 1, 1});
  add("data_cut", 0, {code(CheckpointEdit::resize_data), 30, 0});
  add("header_damaged", checkpoint_header, text_of(round_made, "2"));
  add("note_more", 0,
      std::string{code(CheckpointEdit::add_note)} + counted("lambda") + counted("{}"));
  // Its text is said to have one byte more than there are.
  add("edit_cut_by_one", 0, std::string{code(CheckpointEdit::text_of_note), digest, 5} + "text");
  add("empty_file", checkpoint_case, "");
  add("header_length_huge", checkpoint_case, std::string(7, '\xff') + "\x7f{}");
  add("header_no_object", checkpoint_case, std::string("\x08\0\0\0\0\0\0\0[1,2]   ", 16));
  add("header_without_notes", checkpoint_case,
      std::string("\x10\0\0\0\0\0\0\0{\"x\":{}}        ", 24));
}

}  // namespace ticopd
