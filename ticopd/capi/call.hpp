#pragma once

#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ticopd/capi/ticopd.h"

namespace ticopd::capi {

// Keeps the message for tc_message() and returns the code of the error that is being handled.
int failed() noexcept;
int failed(int code, const char* message) noexcept;

// The body of a function of the interface: nothing leaves it but a code.
template <class Body>
int call(const Body& body) noexcept {
  try {
    body();
    return TC_OK;
  } catch (...) {
    return failed();
  }
}

// The result as a text of the caller's own.
void give(const std::string& text, char** to);
void give(const nlohmann::json& value, char** to);

// A number as JSON: what is not finite is the text "nan", "inf" or "-inf".
nlohmann::json number(double value);

// JSON that the caller gave. ConfigError naming `what` if it is none.
nlohmann::json read_json(const char* text, const char* what);

// UsageError for a null pointer that must not be one.
void require(const void* pointer, const char* what);

}  // namespace ticopd::capi
