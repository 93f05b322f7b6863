#pragma once

#include <algorithm>
#include <cstddef>

namespace ticopd {

// Cuts a row of d coordinates into buckets of `bucket` coordinates; the last one may be shorter.
// With bucket = 0 the row is one bucket. A row of 0 coordinates is one empty bucket.
template <class Count>
constexpr Count bucket_count(Count d, Count bucket) {
  return bucket == 0 || d == 0 ? 1 : (d - 1) / bucket + 1;
}

struct Buckets {
  Buckets(std::size_t row, std::size_t bucket)
      : d(row),
        length(bucket == 0 || bucket > d ? std::max<std::size_t>(d, 1) : bucket),
        count(bucket_count(d, bucket)) {}

  std::size_t first_of(std::size_t b) const { return b * length; }
  std::size_t length_of(std::size_t b) const { return std::min(length, d - first_of(b)); }

  // Calls visit(b, first, count) for each bucket's part of the coordinates first ... last - 1.
  template <class Visit>
  void each_part(std::size_t first, std::size_t last, Visit visit) const {
    while (first < last) {
      const std::size_t b = first / length;
      const std::size_t n = std::min(last, first_of(b) + length_of(b)) - first;
      visit(b, first, n);
      first += n;
    }
  }

  std::size_t d, length, count;
};

}  // namespace ticopd
