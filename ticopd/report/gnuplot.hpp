#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>

namespace ticopd {

// Runs gnuplot, without a shell. TICOPD_GNUPLOT may name another program: an absolute path, or a
// name on PATH.
class Gnuplot {
 public:
  static bool available();
  static std::string_view how_to_get_it();  // "gnuplot is not installed (Debian: gnuplot-nox)"

  // Draws `body` to stem.svg, stem.pdf and stem.png, each whole or not at all. The body must set no
  // terminal and no output. It must write marker sizes as `ps SIZE*mark`, so that they match in all
  // three files. DiskError with gnuplot's message if it fails, UnavailableError if it is missing,
  // Interrupted as soon as `stop` is set.
  static void draw(const std::string& body, const std::filesystem::path& stem, double width_in,
                   double height_in, const std::atomic<bool>* stop = nullptr);
};

// The text as a quoted gnuplot string; line ends become blanks. Draw it with `noenhanced`,
// otherwise `_` and `^` make subscripts and superscripts.
std::string gnuplot_text(std::string_view text);

}  // namespace ticopd
