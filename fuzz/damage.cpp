#include "fuzz/damage.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <set>

namespace ticopd {
namespace {

// At which readers of numbers, of text and of sizes go wrong.
constexpr std::array<std::string_view, 44> numbers{"0",
                                                   "-0",
                                                   "1",
                                                   "-1",
                                                   "+1",
                                                   "2",
                                                   "7",
                                                   "10",
                                                   "255",
                                                   "256",
                                                   "65536",
                                                   "2147483647",
                                                   "2147483648",
                                                   "-2147483648",
                                                   "-2147483649",
                                                   "4294967295",
                                                   "4294967296",
                                                   "9007199254740993",
                                                   "9223372036854775807",
                                                   "9223372036854775808",
                                                   "-9223372036854775808",
                                                   "18446744073709551615",
                                                   "18446744073709551616",
                                                   "0.1",
                                                   "1.5",
                                                   ".5",
                                                   "5.",
                                                   "1e5",
                                                   "1e-5",
                                                   "1e38",
                                                   "3.5e38",
                                                   "1e-46",
                                                   "1e300",
                                                   "1e308",
                                                   "1e309",
                                                   "5e-324",
                                                   "1e-400",
                                                   "1e99999",
                                                   "nan",
                                                   "inf",
                                                   "-inf",
                                                   "0x10",
                                                   "1_0",
                                                   "00"};
constexpr std::string_view marks = ",:;=\"'{}[]()#.-+eE_/\\<> \t\r\n\0\x01\x1b\x7f\x80\xc0\xff";
constexpr std::array<std::uint64_t, 10> sizes{
    0, 1, 2, 0x7f, 0x80, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff};

bool of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

bool of_number(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '+' ||
         c == 'e';
}

// The whole line about `at`, its end included.
std::string_view line_about(std::string_view text, std::size_t at) {
  const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t end = text.find('\n', at);
  return text.substr(begin, end == std::string_view::npos ? end : end + 1 - begin);
}

void put_number(std::string& input, std::size_t at, std::string_view number) {
  const auto place = std::find_if(input.begin() + static_cast<std::ptrdiff_t>(at), input.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  const auto begin = static_cast<std::size_t>(place - input.begin());
  std::size_t end = begin;
  while (end < input.size() && of_number(input[end])) ++end;
  input.replace(begin, end - begin, number);
}

}  // namespace

Damage::Damage(std::span<const std::string> seeds, std::size_t most_bytes)
    : most_bytes_(most_bytes) {
  constexpr std::size_t most_words = 4096;
  std::set<std::string> words;
  for (const std::string& seed : seeds)
    for (std::size_t at = 0; at < seed.size() && words.size() < most_words;) {
      std::size_t end = at;
      while (end < seed.size() && of_word(seed[end])) ++end;
      if (end - at > 1 && end - at <= 32) words.insert(seed.substr(at, end - at));
      at = end + 1;
    }
  words_.assign(words.begin(), words.end());
}

void Damage::apply(std::string& input, std::string_view other, Random& random) const {
  for (std::size_t n = 1 + random.below(4); n > 0; --n) once(input, other, random);
  if (input.size() > most_bytes_) input.resize(most_bytes_);
}

void Damage::once(std::string& input, std::string_view other, Random& random) const {
  const std::size_t at = random.below(input.size() + 1);
  const std::size_t most = random.one_in(8) ? 256 : 8;  // most changes are small
  const auto count = [&](std::string_view of) {
    return std::min(of.size() - std::min(at, of.size()), 1 + random.below(most));
  };
  const bool inside = at < input.size();
  switch (random.below(16)) {
    case 0:
      if (inside) input[at] = static_cast<char>(input[at] ^ 1 << random.below(8));
      break;
    case 1:
      if (inside) input[at] = static_cast<char>(random());
      break;
    case 2:
      if (inside) input[at] = marks[random.below(marks.size())];
      break;
    case 3:
      input.insert(at, 1, marks[random.below(marks.size())]);
      break;
    case 4:
      input.erase(at, count(input));
      break;
    case 5: {  // a piece of the input, once more
      const std::string piece = input.substr(at, count(input));
      input.insert(random.below(input.size() + 1), piece);
      break;
    }
    case 6:
    case 7:
      put_number(input, at, numbers[random.below(numbers.size())]);
      break;
    case 8:
      if (!words_.empty()) input.insert(at, words_[random.below(words_.size())]);
      break;
    case 9: {  // a word for a word
      std::size_t end = at;
      while (end < input.size() && of_word(input[end])) ++end;
      if (!words_.empty()) input.replace(at, end - at, words_[random.below(words_.size())]);
      break;
    }
    case 10: {
      const std::string line(line_about(input, at));
      input.insert(static_cast<std::size_t>(
                       line_about(input, random.below(input.size() + 1)).data() - input.data()),
                   line);
      break;
    }
    case 11: {
      const std::string_view line = line_about(input, at);
      input.erase(static_cast<std::size_t>(line.data() - input.data()), line.size());
      break;
    }
    case 12: {  // over the bytes, or between them
      const std::size_t from = random.below(other.size() + 1);
      const std::string_view piece = other.substr(from, 1 + random.below(most));
      input.replace(at, random.one_in(2) ? std::min(piece.size(), input.size() - at) : 0, piece);
      break;
    }
    case 13: {  // the head of this input, the rest of the other
      input.resize(at);
      input += other.substr(std::min(at, other.size()));
      break;
    }
    case 14: {
      const std::uint64_t size = sizes[random.below(sizes.size())] + random.below(3) - 1;
      const std::size_t bytes = std::size_t{1} << random.below(4);
      if (input.size() >= bytes)
        std::memcpy(input.data() + std::min(at, input.size() - bytes), &size, bytes);
      break;
    }
    default:
      input.resize(at);
      break;
  }
}

}  // namespace ticopd
