#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace ticopd {

// The page built from web/; empty if the build had no npm.
std::string_view page_template();

// Where a page gets its data from: all of it is in the file, or it may ask the server that sent it.
enum class PageKind { file, served };

// The page with the report's data; empty if there is no template.
std::string page(const nlohmann::json& report, PageKind kind = PageKind::file);

// The same from a report as text (script_json), which may be large.
std::string page_of(std::string_view report, PageKind kind);

// The content security policy of the page; empty if there is no template.
std::string page_policy(PageKind kind);

// JSON that may stand inside a script element: every `<` is written as \u003c.
std::string script_json(const nlohmann::json& value);

}  // namespace ticopd
