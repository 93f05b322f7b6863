#include "ticopd/site/site_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "ticopd/error.hpp"
#include "ticopd/site/planted.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// state_magic | length of the head | head (JSON) | frames of the outboxes | rows | XXH3-64 of all
// before
constexpr std::string_view state_magic = "TCSITE1\n";

template <class T>
struct Tensors final : StateVisitor<T> {
  void field(std::string_view name, Field<T>& rows) override { all.push_back({name, &rows}); }
  void mirror(std::string_view name, AnyMirror<T>& m) override { all.push_back({name, &m.rows()}); }
  struct Tensor {
    std::string_view name;
    Field<T>* rows;
    json shape() const { return {name, rows->rows(), rows->cols(), sizeof(T)}; }
  };
  std::vector<Tensor> all;
};

void append(Bytes& to, const void* from, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(from);
  to.insert(to.end(), bytes, bytes + size);
}

json record_json(const SessionRecord& r) {
  json frames = json::array();
  for (const SentFrame& f : r.outbox) frames.push_back({f.channel, f.frame.size(), f.chain});
  return {{"consumed", {r.consumed, r.consumed_chain}},
          {"sent", {r.sent, r.sent_chain}},
          {"trimmed", {r.trimmed, r.trimmed_chain}},
          {"outbox", std::move(frames)}};
}

// Anything else would be turned into some number.
template <class Number>
Number unsigned_of(const json& value) {
  if (!value.is_number_unsigned() || value > std::numeric_limits<Number>::max())
    throw FormatError("is damaged (numbers of its head)");
  return value.get<Number>();
}

// The head, and where the bytes behind it begin.
struct Parts {
  json head;
  std::span<const std::byte> body;  // without the hash at the end
};

Parts parts_of(std::span<const std::byte> bytes) {
  std::uint64_t length = 0, check = 0;
  const std::size_t fixed = state_magic.size() + sizeof length;
  if (bytes.size() < fixed + sizeof check ||
      std::memcmp(bytes.data(), state_magic.data(), state_magic.size()) != 0)
    throw FormatError("is not the checkpoint of a site");
  std::memcpy(&check, bytes.data() + bytes.size() - sizeof check, sizeof check);
  bytes = bytes.first(bytes.size() - sizeof check);
  if (check != hash_row(bytes) && !planted(Bug::trust_files))
    throw FormatError("is damaged (its hash differs)");
  std::memcpy(&length, bytes.data() + state_magic.size(), sizeof length);
  if (length > bytes.size() - fixed) throw FormatError("is damaged (length of its head)");
  const auto* text = reinterpret_cast<const char*>(bytes.data() + fixed);
  return {parse_json({text, length}), bytes.subspan(fixed + length)};
}

// Head, frames and start; rows of so many bytes follow, and the hash.
Bytes begun(const SiteState& s, const json& tensors, std::size_t row_bytes) {
  json head{{"round", s.round},
            {"network", s.network},
            {"epoch", s.epoch},
            {"closed", s.closed},
            {"start", {s.start.rows, s.start.cols, s.start.scalar}},
            {"ledger", s.ledger},
            {"seconds", s.seconds}};
  for (const LoggedRows& l : s.logged) {
    json rows = json::array();
    for (const RowHash& hash : l.rows) rows.push_back(hex_of(hash));
    head["logged"].push_back({l.round, std::move(rows), l.metrics});
  }
  for (const SessionRecord& r : s.sessions) head["sessions"].push_back(record_json(r));
  if (!tensors.is_null()) head["tensors"] = tensors;
  const std::string text = head.dump();
  const std::uint64_t length = text.size();
  std::size_t size = state_magic.size() + text.size() + s.start.bytes.size() + row_bytes;
  for (const SessionRecord& r : s.sessions)
    for (const SentFrame& f : r.outbox) size += f.frame.size();
  Bytes bytes;
  bytes.reserve(size + 2 * sizeof length);  // and the hash
  append(bytes, state_magic.data(), state_magic.size());
  append(bytes, &length, sizeof length);
  append(bytes, text.data(), text.size());
  for (const SessionRecord& r : s.sessions)
    for (const SentFrame& f : r.outbox) append(bytes, f.frame.data(), f.frame.size());
  append(bytes, s.start.bytes.data(), s.start.bytes.size());
  return bytes;
}

Bytes finished(Bytes bytes) {
  const std::uint64_t check = hash_row(bytes);
  append(bytes, &check, sizeof check);
  return bytes;
}

std::size_t bytes_of(const json& rows, std::size_t scalar) {
  const auto count = rows.at(0).get<std::uint64_t>(), cols = rows.at(1).get<std::uint64_t>();
  if (count > (1ull << 31) || cols > (1ull << 40) || (scalar != 0 && scalar != 4 && scalar != 8))
    throw FormatError("is damaged (numbers of rows)");
  if (count != 0 && cols > (1ull << 45) / count) throw FormatError("is damaged (numbers of rows)");
  return count * cols * scalar;
}

}  // namespace

template <class T>
Bytes encode_state(const SiteState& s, AnyRun<T>& run) {
  Tensors<T> tensors;
  run.visit(tensors);
  json shapes = json::array();
  std::size_t size = 0;
  for (const auto& t : tensors.all) {
    shapes.push_back(t.shape());
    size += t.rows->rows() * t.rows->cols() * sizeof(T);
  }
  Bytes bytes = begun(s, shapes, size);
  for (const auto& t : tensors.all)
    for (std::size_t row = 0; row < t.rows->rows(); ++row) {
      const std::span<const T> values = std::as_const(*t.rows).row(row);
      append(bytes, values.data(), values.size_bytes());
    }
  return finished(std::move(bytes));
}

Bytes encode_start(const SiteState& s) {
  return finished(begun(s, {}, 0));
}

bool is_start(std::span<const std::byte> bytes) {
  return !parts_of(bytes).head.contains("tensors");
}

SiteState decode_state(std::span<const std::byte> bytes) try {
  const Parts parts = parts_of(bytes);
  const json& head = parts.head;
  SiteState s;
  s.round = unsigned_of<std::uint32_t>(head.at("round"));
  s.network = unsigned_of<std::uint64_t>(head.at("network"));
  if (const auto epoch = head.find("epoch"); epoch != head.end())
    s.epoch = unsigned_of<std::uint32_t>(*epoch);
  s.closed = head.value("closed", false);
  s.ledger = head.at("ledger");
  s.seconds = head.at("seconds").get<double>();
  for (const json& l : head.value("logged", json::array())) {
    LoggedRows rows{unsigned_of<std::uint32_t>(l.at(0)), {}};
    for (const json& hash : l.at(1)) rows.rows.push_back(hash_of_hex(hash.get<std::string>()));
    rows.metrics = l.at(2).get<std::string>();
    s.logged.push_back(std::move(rows));
  }
  std::span<const std::byte> body = parts.body;
  const auto number = [](const json& r, const char* key, std::size_t i) {
    return unsigned_of<std::uint64_t>(r.at(key).at(i));
  };
  for (const json& r : head.value("sessions", json::array())) {
    SessionRecord record{.consumed = number(r, "consumed", 0),
                         .consumed_chain = number(r, "consumed", 1),
                         .sent = number(r, "sent", 0),
                         .sent_chain = number(r, "sent", 1),
                         .trimmed = number(r, "trimmed", 0),
                         .trimmed_chain = number(r, "trimmed", 1)};
    for (const json& f : r.at("outbox")) {
      const auto size = unsigned_of<std::uint64_t>(f.at(1));
      if (size > body.size()) throw FormatError("is damaged (length of a frame)");
      const auto frame = body.first(size);
      record.outbox.push_back({unsigned_of<std::uint32_t>(f.at(0)),
                               Bytes(frame.begin(), frame.end()),
                               unsigned_of<std::uint64_t>(f.at(2))});
      body = body.subspan(size);
    }
    if (record.trimmed > record.sent || record.sent - record.trimmed != record.outbox.size() ||
        record.sent > most_frames || record.consumed > most_frames)
      throw FormatError("is damaged (numbers of frames)");
    s.sessions.push_back(std::move(record));
  }
  if (const json start = head.value("start", json{0u, 0u, 0u}); start.at(0) != 0) {
    s.start = {unsigned_of<std::size_t>(start.at(0)), unsigned_of<std::size_t>(start.at(1)),
               unsigned_of<std::size_t>(start.at(2))};
    const std::size_t size = bytes_of(start, s.start.scalar);
    if (size > body.size()) throw FormatError("is damaged (length of its start)");
    s.start.bytes.assign(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));
  }
  return s;
} catch (const json::exception&) {
  throw FormatError("is damaged (values of its head)");
}

template <class T>
void restore_rows(std::span<const std::byte> bytes, AnyRun<T>& run) try {
  const Parts parts = parts_of(bytes);
  [[maybe_unused]] const std::size_t hosted = run.x().rows();
  Tensors<T> tensors;
  run.visit(tensors);
  json shapes = json::array();
  std::size_t size = 0;
  for (const auto& t : tensors.all) {
    shapes.push_back(t.shape());
    size += t.rows->rows() * t.rows->cols() * sizeof(T);
  }
  // The rows are at the end, behind the frames.
  if (parts.head.value("tensors", json::array()) != shapes || size > parts.body.size())
    throw FormatError("has rows of another run");
  const std::byte* from = parts.body.data() + (parts.body.size() - size);
  for (const auto& t : tensors.all)
    for (std::size_t row = 0; row < t.rows->rows(); ++row) {
      const std::span<T> values = t.rows->row(row);
      if (planted(Bug::forget_ghosts) && row >= hosted) {
        from += values.size_bytes();
        continue;
      }
      std::memcpy(values.data(), from, values.size_bytes());
      from += values.size_bytes();
    }
} catch (const json::exception&) {
  throw FormatError("is damaged (values of its head)");
}

// The rows of all tensors stand at the end, and those of the hosted agents come first in each.
KeptRows models_of(std::span<const std::byte> bytes) try {
  const Parts parts = parts_of(bytes);
  if (!parts.head.contains("tensors")) return decode_state(bytes).start;
  const json& tensors = parts.head["tensors"];
  std::size_t size = 0, at = 0;
  const json* x = nullptr;
  for (const json& t : tensors) {
    if (x == nullptr && t.at(0) == "x") {
      x = &t;
      at = size;
    }
    size += bytes_of(json{t.at(1), t.at(2)}, t.at(3).get<std::size_t>());
    if (size > parts.body.size()) throw FormatError("is damaged (numbers of rows)");
  }
  if (x == nullptr) throw FormatError("has no models");
  KeptRows rows{x->at(1).get<std::size_t>(), x->at(2).get<std::size_t>(),
                x->at(3).get<std::size_t>()};
  const auto from = parts.body.subspan(parts.body.size() - size + at);
  rows.bytes.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(rows.rows * rows.cols *
                                                                             rows.scalar));
  return rows;
} catch (const json::exception&) {
  throw FormatError("is damaged (values of its head)");
}

template <class T>
KeptRows kept(const Field<T>& x) {
  KeptRows rows{x.rows(), x.cols(), sizeof(T)};
  for (std::size_t row = 0; row < x.rows(); ++row)
    append(rows.bytes, x.row(row).data(), x.row(row).size_bytes());
  return rows;
}

template <class T>
void put_back(const KeptRows& rows, Field<T>& to) {
  if (rows.rows > 0 && rows.cols != to.cols())
    throw ConfigError(
        fmt::format("the models of this site have {} numbers, and those of the new "
                    "roster {}: that is another run; give it another name",
                    rows.cols, to.cols()));
  for (std::size_t row = 0; row < std::min(rows.rows, to.rows()); ++row)
    for (std::size_t k = 0; k < to.cols(); ++k) {
      const std::byte* from = rows.bytes.data() + (row * rows.cols + k) * rows.scalar;
      if (rows.scalar == sizeof(T)) {
        std::memcpy(&to.row(row)[k], from, sizeof(T));
      } else if (rows.scalar == sizeof(float)) {
        float value;
        std::memcpy(&value, from, sizeof value);
        to.row(row)[k] = static_cast<T>(value);
      } else {
        double value;
        std::memcpy(&value, from, sizeof value);
        to.row(row)[k] = static_cast<T>(value);
      }
    }
}

template KeptRows kept<float>(const Field<float>&);
template KeptRows kept<double>(const Field<double>&);
template void put_back<float>(const KeptRows&, Field<float>&);
template void put_back<double>(const KeptRows&, Field<double>&);
template Bytes encode_state<float>(const SiteState&, AnyRun<float>&);
template Bytes encode_state<double>(const SiteState&, AnyRun<double>&);
template void restore_rows<float>(std::span<const std::byte>, AnyRun<float>&);
template void restore_rows<double>(std::span<const std::byte>, AnyRun<double>&);

}  // namespace ticopd
