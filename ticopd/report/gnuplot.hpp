#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ticopd {

// A picture: gnuplot's commands, and the blocks of numbers that they plot.
struct Drawing {
  // Sets no terminal and no output. It writes marker sizes as `ps SIZE*mark`, so that they match in
  // all formats.
  std::string body;
  std::string data = {};                                     // loaded once, before the commands
  double width = 0, height = 0;                              // inches
  std::string font = {};                                     // empty: Arial, or what has its widths
  double font_size = 8;                                      // points
  std::vector<std::string> formats = {"svg", "pdf", "png"};  // or eps
  bool keep_script = false;  // leave stem.gp and stem.dat: `gnuplot stem.gp` draws the same again
};

// Runs gnuplot, without a shell. TICOPD_GNUPLOT may name another program: an absolute path, or a
// name on PATH.
class Gnuplot {
 public:
  static bool available();
  static std::string_view how_to_get_it();  // "gnuplot is not installed (Debian: gnuplot-nox)"

  // Draws stem.svg and the other formats, each whole or not at all. DiskError with gnuplot's
  // message if it fails, UnavailableError if it is missing, Interrupted as soon as `stop` is set.
  // Script and data are kept in any case.
  static void draw(const Drawing& drawing, const std::filesystem::path& stem,
                   const std::atomic<bool>* stop = nullptr);
  // The three usual formats, without the script.
  static void draw(const std::string& body, const std::filesystem::path& stem, double width_in,
                   double height_in, const std::atomic<bool>* stop = nullptr);
};

// The text as a quoted gnuplot string; line ends become blanks. Draw it with `noenhanced`,
// otherwise `_` and `^` make subscripts and superscripts.
std::string gnuplot_text(std::string_view text);

}  // namespace ticopd
