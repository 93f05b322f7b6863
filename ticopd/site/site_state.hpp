#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ticopd/algorithms/any_run.hpp"
#include "ticopd/run/digest.hpp"
#include "ticopd/site/session.hpp"

namespace ticopd {

// The hashes of rows of x at a logged round: a part of the run's digest that a site can know.
struct LoggedRows {
  std::uint32_t round = 0;
  std::vector<RowHash> rows;  // of the hosted agents
  std::string metrics = {};   // a row of the site's metrics.csv; empty: it was not measured
};

// Rows of numbers, of 4 or 8 bytes each.
struct KeptRows {
  std::size_t rows = 0, cols = 0, scalar = 0;
  Bytes bytes = {};
  bool operator==(const KeptRows&) const = default;
};

// What a site's checkpoint holds beside the rows of its run.
struct SiteState {
  std::uint32_t round = 0;
  std::uint64_t network = 0;
  std::uint32_t epoch = 1;
  KeptRows start = {};    // where the hosted agents began this epoch; empty in the first one
  bool closed = false;    // the site has left this epoch, and `start` is where it ended
  nlohmann::json ledger;  // of the hosted agents
  std::vector<LoggedRows> logged;
  std::vector<SessionRecord> sessions;  // by site
  double seconds = 0;                   // in the run, of all processes of this site
};

// A checkpoint as bytes, with a hash over all of them: fields and mirrors with their ghost rows.
template <class T>
Bytes encode_state(const SiteState& state, AnyRun<T>& run);

// A checkpoint without rows of a run: the start of an epoch, or its end.
Bytes encode_start(const SiteState& state);

// FormatError if the bytes are damaged, or of another run than this one. Fills the run's rows.
SiteState decode_state(std::span<const std::byte> bytes);
template <class T>
void restore_rows(std::span<const std::byte> bytes, AnyRun<T>& run);

// True for what encode_start made.
bool is_start(std::span<const std::byte> bytes);

// The models in a checkpoint of any run: those of its last round, or of the start that it is.
KeptRows models_of(std::span<const std::byte> bytes);
template <class T>
KeptRows kept(const Field<T>& rows);
// The first rows of `to` become these, as far as there are some. ConfigError if they have another
// length.
template <class T>
void put_back(const KeptRows& rows, Field<T>& to);

extern template Bytes encode_state<float>(const SiteState&, AnyRun<float>&);
extern template Bytes encode_state<double>(const SiteState&, AnyRun<double>&);
extern template void restore_rows<float>(std::span<const std::byte>, AnyRun<float>&);
extern template void restore_rows<double>(std::span<const std::byte>, AnyRun<double>&);
extern template KeptRows kept<float>(const Field<float>&);
extern template KeptRows kept<double>(const Field<double>&);
extern template void put_back<float>(const KeptRows&, Field<float>&);
extern template void put_back<double>(const KeptRows&, Field<double>&);

}  // namespace ticopd
