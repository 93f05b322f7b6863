#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ticopd {

// gnuplot, started without a shell. TICOPD_GNUPLOT may name another program.
class Gnuplot {
 public:
  static bool available();
  static std::string_view how_to_get_it();  // "gnuplot is not installed (Debian: gnuplot-nox)"

  // Draws `body` to stem.svg, stem.pdf and stem.png, each whole or not at all. The body sets no
  // terminal and no output; markers of one size on all three are `ps SIZE*mark`. DiskError with
  // gnuplot's own words where it fails, UnavailableError where it is not there.
  static void draw(const std::string& body, const std::filesystem::path& stem, double width_in,
                   double height_in);
};

// A text as gnuplot reads it between quotes; line ends become blanks. Draw it with `noenhanced`,
// or its `_` and `^` become subscripts.
std::string gnuplot_text(std::string_view text);

}  // namespace ticopd
