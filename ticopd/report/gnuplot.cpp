#include "ticopd/report/gnuplot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "ticopd/error.hpp"
#include "ticopd/report/text.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/program.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

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
                               : picture.extension() == ".png" ? "IEND"
                                                               : "%%EOF";  // pdf and eps
  const std::string_view tail =
      std::string_view(bytes).substr(bytes.size() - std::min<std::size_t>(bytes.size(), 64));
  return tail.find(end) != std::string_view::npos;
}

std::string indented(std::string text) {
  for (std::size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1))
    text.insert(at + 1, "  ");
  return text;
}

// Sets up a format, all with the same sizes: lengths in inches, type in points. The SVG names
// Arial, which every system has or replaces by a font of the same widths. Cairo takes a point as
// 1/72 of 96 dots, hence the font scales.
std::string terminal(std::string_view format, const Drawing& d) {
  constexpr double css = 96, png = 300, points = 72;
  const auto font = [&](const char* usual) {
    return gnuplot_text(fmt::format("{},{:g}", d.font.empty() ? usual : d.font, d.font_size));
  };
  if (format == "svg")
    return fmt::format(
        "mark = 1.2\nset terminal svg enhanced size {},{} font {} fontscale {} lw 1 "
        "background 'white'\n",
        std::lround(d.width * css), std::lround(d.height * css), font("Arial"), css / points);
  if (format == "png")
    return fmt::format(
        "mark = 1\nset terminal pngcairo enhanced color size {},{} font {} fontscale {} lw {} "
        "ps {} dl 1.3\n",
        std::lround(d.width * png), std::lround(d.height * png), font("Liberation Sans"), png / css,
        0.85 * png / css, 1.2 * png / css);
  return fmt::format(
      "mark = 1\nset terminal {}cairo enhanced color size {:.6g}in,{:.6g}in font {} fontscale {} "
      "lw 1.3\n",
      format, d.width, d.height, font("Liberation Sans"), points / css);
}

// The whole script. It loads itself once for each format, because gnuplot cannot draw a multiplot
// again for another terminal.
std::string script(const Drawing& d, const std::string& name) {
  const std::string file = gnuplot_text(name + ".gp");
  std::string text = fmt::format(
      "# Draws {0}. To change it, edit this file and run here:  gnuplot {0}.gp\n"
      "# The numbers are in {0}.dat. A new report writes both files again.\n"
      "if (!exists('picture')) {{\n"
      "  load {1}\n"
      "  do for [picture in '{2}'] {{ load {3} }}\n"
      "  exit\n"
      "}}\n"
      "set encoding utf8\n",
      name, gnuplot_text(name + ".dat"), fmt::join(d.formats, " "), file);
  for (const std::string& format : d.formats)
    text += fmt::format("if (picture eq '{}') {{\n  {}}}\n", format, indented(terminal(format, d)));
  text += fmt::format("set output {}.picture\n", gnuplot_text(name + "."));
  return text + d.body + "set output\nreset\n";
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

void Gnuplot::draw(const Drawing& drawing, const fs::path& stem, const std::atomic<bool>* stop) {
  // gnuplot draws in a scratch folder beside the figure: a failure never leaves half of it, and a
  // rename needs no second copy.
  const ScratchFolder scratch(stem.has_parent_path() ? stem.parent_path() : fs::path("."));
  const std::string name = stem.filename().string();
  const auto made = [&](const std::string& ending) { return scratch.path() / (name + ending); };
  const std::string commands = script(drawing, name);
  write_atomically(made(".gp"), commands);
  write_atomically(made(".dat"), drawing.data);
  if (drawing.keep_script) {  // useful without a gnuplot, too: it may be drawn elsewhere
    write_atomically(stem.string() + ".gp", commands);
    write_atomically(stem.string() + ".dat", drawing.data);
  }
  const Outcome outcome = run_gnuplot(name + ".gp", scratch.path(), stop);
  if (!outcome.fine && outcome.reason == "not installed")
    throw UnavailableError(std::string(how_to_get_it()));
  if (!outcome.fine)
    throw DiskError(
        fmt::format("{}: gnuplot could not draw it: {}", stem.string(), outcome.reason));
  std::error_code error;
  for (const std::string& format : drawing.formats)  // all of them, before one gets its name
    if (!fs::exists(made("." + format), error) || !is_whole(made("." + format)))
      throw DiskError(fmt::format("{}.{}: gnuplot wrote {}", stem.string(), format,
                                  outcome.output.empty() ? "only a part of it; is the disk full?"
                                                         : outcome.output.substr(0, 200)));
  for (const std::string& format : drawing.formats)
    publish(made("." + format), stem.string() + "." + format);
}

void Gnuplot::draw(const std::string& body, const fs::path& stem, double width_in, double height_in,
                   const std::atomic<bool>* stop) {
  draw(Drawing{.body = body, .width = width_in, .height = height_in}, stem, stop);
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
