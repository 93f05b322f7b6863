#include "ticopd/report/page.hpp"

#include <nlohmann/json.hpp>

namespace ticopd {

std::string page(const nlohmann::json& report) {
  constexpr std::string_view placeholder = "\"TICOPD_REPORT\"";
  const std::string_view empty_page = page_template();
  const std::size_t at = empty_page.find(placeholder);
  if (at == std::string_view::npos) return {};
  std::string filled(empty_page.substr(0, at));
  // Escape `<`: a label such as "</script>" would end the script element.
  for (const char c : report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
    if (c == '<')
      filled += "\\u003c";
    else
      filled += c;
  filled += empty_page.substr(at + placeholder.size());
  return filled;
}

}  // namespace ticopd
