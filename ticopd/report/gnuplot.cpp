#include "ticopd/report/gnuplot.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "ticopd/error.hpp"
#include "ticopd/report/text.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/program.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

Outcome run_gnuplot(const std::string& argument, const fs::path& folder) {
  const char* other = std::getenv("TICOPD_GNUPLOT");
  const std::string program = other != nullptr && *other != '\0' ? other : "gnuplot";
  // -d ignores the user's own .gnuplot, so that the figure is the same for everybody.
  return run_program({program, "-d", argument}, folder, 120);
}

// Sets up the three formats with the same sizes: lengths in inches, type in points. The SVG names
// Arial, which every system has or replaces by a font of the same widths. Cairo takes a point as
// 1/72 of 96 dots, hence the font scales.
std::string script(double width, double height) {
  constexpr double css = 96, png = 300, points = 72;
  return fmt::format(R"(mark = 1.2
set encoding utf8
set terminal svg enhanced size {},{} font "Arial,8" fontscale {} lw {} background "white"
set output "picture.svg"
load "body.gp"
set output
reset
mark = 1
set encoding utf8
set terminal pdfcairo enhanced color size {}in,{}in font "Liberation Sans,8" fontscale {} lw 1.3
set output "picture.pdf"
load "body.gp"
set output
reset
set encoding utf8
set terminal pngcairo enhanced color size {},{} font "Liberation Sans,8" \
  fontscale {} lw {} ps {} dl 1.3
set output "picture.png"
load "body.gp"
set output
)",
                     std::lround(width * css), std::lround(height * css), css / points, 1.0, width,
                     height, points / css, std::lround(width * png), std::lround(height * png),
                     png / css, 0.85 * png / css, 1.2 * png / css);
}

}  // namespace

bool Gnuplot::available() {
  const ScratchFolder scratch(fs::temp_directory_path());
  return run_gnuplot("--version", scratch.path()).fine;
}

std::string_view Gnuplot::how_to_get_it() {
  return "gnuplot is not installed (Debian: gnuplot-nox)";
}

void Gnuplot::draw(const std::string& body, const fs::path& stem, double width_in,
                   double height_in) {
  const ScratchFolder scratch(fs::temp_directory_path());
  // gnuplot draws in a scratch folder, so that a failure never leaves half a figure.
  write_atomically(scratch.path() / "body.gp", body);
  write_atomically(scratch.path() / "script.gp", script(width_in, height_in));
  const Outcome outcome = run_gnuplot("script.gp", scratch.path());
  if (!outcome.fine && outcome.reason == "not installed")
    throw UnavailableError(std::string(how_to_get_it()));
  if (!outcome.fine)
    throw DiskError(
        fmt::format("{}: gnuplot could not draw it: {}", stem.string(), outcome.reason));
  for (const char* ending : {".svg", ".pdf", ".png"}) {
    const fs::path drawn = scratch.path() / fmt::format("picture{}", ending);
    std::error_code error;
    if (!fs::exists(drawn, error) || fs::file_size(drawn, error) == 0)
      throw DiskError(fmt::format("{}{}: gnuplot wrote nothing", stem.string(), ending));
    write_atomically(stem.string() + ending, read_bytes(drawn));
  }
}

std::string gnuplot_text(std::string_view text) {
  // Single quotes: inside double quotes gnuplot would interpret backslashes and run `commands`.
  std::string out = "'";
  for (const char c : plain(text)) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + '\'';
}

}  // namespace ticopd
