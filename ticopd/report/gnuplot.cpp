#include "ticopd/report/gnuplot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "ticopd/error.hpp"
#include "ticopd/report/text.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/program.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

Outcome run_gnuplot(const std::string& argument, const fs::path& folder,
                    const std::atomic<bool>* stop) {
  const fs::path other = file_of_variable("TICOPD_GNUPLOT", Named::path_or_name);
  // -d ignores the user's own .gnuplot, so that the figure is the same for everybody.
  return run_program({other.empty() ? "gnuplot" : other.string(), "-d", argument}, folder, 120,
                     stop);
}

// A disk that runs full makes gnuplot write half a picture and end with success. Every format has
// an end of its own.
bool is_whole(const fs::path& picture) {
  const std::string bytes = read_bytes(picture);
  const std::string_view end = picture.extension() == ".svg"   ? "</svg>"
                               : picture.extension() == ".pdf" ? "%%EOF"
                                                               : "IEND";
  const std::string_view tail =
      std::string_view(bytes).substr(bytes.size() - std::min<std::size_t>(bytes.size(), 64));
  return tail.find(end) != std::string_view::npos;
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
  try {
    return run_gnuplot("--version", "/", nullptr).fine;
  } catch (const UnavailableError&) {  // TICOPD_GNUPLOT names no program
    return false;
  }
}

std::string_view Gnuplot::how_to_get_it() {
  return "gnuplot is not installed (Debian: gnuplot-nox)";
}

void Gnuplot::draw(const std::string& body, const fs::path& stem, double width_in, double height_in,
                   const std::atomic<bool>* stop) {
  // gnuplot draws in a scratch folder beside the figure: a failure never leaves half of it, and a
  // rename needs no second copy.
  const ScratchFolder scratch(stem.has_parent_path() ? stem.parent_path() : fs::path("."));
  write_atomically(scratch.path() / "body.gp", body);
  write_atomically(scratch.path() / "script.gp", script(width_in, height_in));
  const Outcome outcome = run_gnuplot("script.gp", scratch.path(), stop);
  if (!outcome.fine && outcome.reason == "not installed")
    throw UnavailableError(std::string(how_to_get_it()));
  if (!outcome.fine)
    throw DiskError(
        fmt::format("{}: gnuplot could not draw it: {}", stem.string(), outcome.reason));
  constexpr std::array<const char*, 3> endings{".svg", ".pdf", ".png"};
  const auto drawn = [&](const char* ending) { return scratch.path() / ("picture"s + ending); };
  std::error_code error;
  for (const char* ending : endings)  // all of them, before one gets its name
    if (!fs::exists(drawn(ending), error) || !is_whole(drawn(ending)))
      throw DiskError(fmt::format("{}{}: gnuplot wrote {}", stem.string(), ending,
                                  outcome.output.empty() ? "only a part of it; is the disk full?"
                                                         : outcome.output.substr(0, 200)));
  for (const char* ending : endings) publish(drawn(ending), stem.string() + ending);
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
