#pragma once

#include <string>
#include <string_view>

// Text that comes from users and files may hold anything: bytes that are not UTF-8, and control
// characters that a terminal would obey.
namespace ticopd {

bool is_utf8(std::string_view text);

// One line of valid UTF-8, for tables and pictures: control and invisible characters become blanks,
// invalid bytes become '?'.
std::string plain(std::string_view text);

// Text for a terminal: line ends stay, other control characters and invalid bytes are shown as
// \x1b, characters that cannot be seen or that turn the text around as \u202e. A terminal cannot be
// given orders, and a person sees what was there.
std::string printable(std::string_view text);

}  // namespace ticopd
