#include "ticopd/report/page.hpp"

#include <nlohmann/json.hpp>

namespace ticopd {
namespace {

constexpr std::string_view policy_begins = "http-equiv=\"Content-Security-Policy\" content=\"";

// Where the policy stands in the template; length 0 if it is not there.
std::pair<std::size_t, std::size_t> place_of_policy(std::string_view html) {
  const std::size_t begin = html.find(policy_begins);
  if (begin == std::string_view::npos) return {0, 0};
  const std::size_t at = begin + policy_begins.size();
  return {at, html.find('"', at) - at};
}

}  // namespace

std::string script_json(const nlohmann::json& value) {
  std::string text;
  // A label such as "</script>" would end the script element.
  for (const char c : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

std::string page_policy(PageKind kind) {
  const std::string_view html = page_template();
  const auto [at, length] = place_of_policy(html);
  if (length == 0) return {};
  std::string policy(html.substr(at, length));
  if (kind == PageKind::served) policy += "; connect-src 'self'";
  return policy;
}

std::string page_of(std::string_view report, PageKind kind) {
  constexpr std::string_view placeholder = "\"TICOPD_REPORT\"";
  std::string filled(page_template());
  const std::size_t at = filled.find(placeholder);
  if (at == std::string::npos) return {};
  filled.replace(at, placeholder.size(), report);
  if (const auto [begins, length] = place_of_policy(page_template());
      kind == PageKind::served && length > 0)
    filled.replace(begins, length, page_policy(kind));  // it stands before the data
  return filled;
}

std::string page(const nlohmann::json& report, PageKind kind) {
  return page_of(script_json(report), kind);
}

}  // namespace ticopd
