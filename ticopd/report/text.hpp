#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ticopd/system/text.hpp"

namespace ticopd {

// Labels come from users and may hold anything. These functions, with plain() of system/text.hpp,
// make them safe for a terminal, a table and a picture, and short enough.

// The number of code points in valid UTF-8, a good estimate of terminal columns.
std::size_t characters(std::string_view text);

// Cuts to at most `width` characters, with an ellipsis after the first `head`; by default in the
// middle.
std::string shortened(std::string_view text, std::size_t width);
std::string shortened(std::string_view text, std::size_t width, std::size_t head);

// Shortens all labels at the same place. The place is chosen so that different labels stay
// different: they may differ in a single digit.
std::vector<std::string> shortened_apart(std::span<const std::string> labels, std::size_t width);

std::string padded_left(std::string_view text, std::size_t width);   // blanks before
std::string padded_right(std::string_view text, std::size_t width);  // blanks after

// A CSV cell of text by RFC 4180: one line, quoted if it contains a comma or a quote. A cell that
// begins with = + - or @ gets an apostrophe before it: to a spreadsheet it would be a formula.
std::string csv_cell(std::string_view text);

}  // namespace ticopd
