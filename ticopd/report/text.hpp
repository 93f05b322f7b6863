#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ticopd {

// Labels come from users. These make them fit for a terminal, a table and a picture.

// One line of valid UTF-8: control characters become blanks, bytes that are no UTF-8 become '?'.
std::string plain(std::string_view text);

// Code points of valid UTF-8: near enough to columns of a terminal.
std::size_t characters(std::string_view text);

// At most `width` characters, with an ellipsis after the first `head`; by default in the middle.
std::string shortened(std::string_view text, std::size_t width);
std::string shortened(std::string_view text, std::size_t width, std::size_t head);

// All of them shortened at one place, chosen so that different labels stay different: they may
// differ in a single digit.
std::vector<std::string> shortened_apart(std::span<const std::string> labels, std::size_t width);

std::string padded_left(std::string_view text, std::size_t width);   // blanks before
std::string padded_right(std::string_view text, std::size_t width);  // blanks behind

// A CSV cell by RFC 4180: quoted where it holds a comma, a quote or a line end.
std::string csv_cell(std::string_view text);

}  // namespace ticopd
