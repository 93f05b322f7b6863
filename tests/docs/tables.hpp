#pragma once

#include <string>

namespace ticopd {

// The page with every table between `<!-- table: NAME -->` and `<!-- end -->` written anew from the
// tables of the library. std::runtime_error for a table that there is not, and for a missing end.
std::string with_fresh_tables(const std::string& page);

}  // namespace ticopd
