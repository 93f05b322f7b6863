#include "ticopd/capi/call.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/run/machine.hpp"
#include "ticopd/system/json.hpp"

namespace ticopd::capi {
namespace {

std::string& message() {
  static thread_local std::string text;
  return text;
}

}  // namespace

int failed(int code, const char* text) noexcept try {
  message() = text;
  return code;
} catch (...) {
  return code;
}

int failed() noexcept {
  try {
    throw;
  } catch (const Error& e) {
    return failed(e.exit_code(), e.what());
  } catch (const std::bad_alloc&) {
    return failed(TC_INTERNAL, "out of memory");
  } catch (const std::exception& e) {
    return failed(TC_INTERNAL, e.what());
  } catch (...) {
    return failed(TC_INTERNAL, "an exception that has no message");
  }
}

void give(const std::string& text, char** to) {
  require(to, "the place of the result");
  *to = static_cast<char*>(std::malloc(text.size() + 1));
  if (*to == nullptr) throw std::bad_alloc();
  std::memcpy(*to, text.c_str(), text.size() + 1);
}

void give(const nlohmann::json& value, char** to) {
  // A name in bytes that are no UTF-8 must not lose the rest.
  give(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), to);
}

nlohmann::json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

nlohmann::json read_json(const char* text, const char* what) {
  require(text, what);
  std::string why;
  nlohmann::json value = parse_json(text, &why);
  if (value.is_discarded() || (value.is_null() && !why.empty()))
    throw UsageError(fmt::format("{}: is no JSON ({})", what, why));
  return value;
}

void require(const void* pointer, const char* what) {
  if (pointer == nullptr) throw UsageError(fmt::format("{}: is a null pointer", what));
}

}  // namespace ticopd::capi

extern "C" {

int tc_abi(void) {
  return TC_ABI;
}

const char* tc_version(void) {
  return ticopd::version;
}

const char* tc_message(void) {
  return ticopd::capi::message().c_str();
}

void tc_free(void* text) {
  std::free(text);
}
}
