#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/codecs/codec.hpp"

namespace ticopd::testing {

// Normal coordinates of quite different sizes; a zero and a negative zero now and then.
template <class T>
std::vector<T> random_row(std::size_t d, std::uint32_t number = 0) {
  Generator random(Noise{77, number, static_cast<std::uint32_t>(d), stream_synthetic});
  std::vector<T> v(d);
  for (T& x : v) {
    const double size = std::exp(2.0 * random.normal());
    x = static_cast<T>(size * random.normal());
    if (random.below(20) == 0) x = std::copysign(T{0}, x);
  }
  return v;
}

template <class T>
double norm2(std::span<const T> v) {
  double sum = 0;
  for (const T x : v) sum += static_cast<double>(x) * static_cast<double>(x);
  return sum;
}

template <class T>
double distance2(const std::vector<T>& v, const std::vector<T>& w) {
  double sum = 0;
  for (std::size_t k = 0; k < v.size(); ++k) {
    const double a = static_cast<double>(v[k]) - static_cast<double>(w[k]);
    sum += a * a;
  }
  return sum;
}

inline CodecOptions options(std::string kind) {
  CodecOptions o;
  o.kind = std::move(kind);
  return o;
}

inline CodecOptions qsgd(int bits, bool scaled = true, std::size_t bucket = 0) {
  CodecOptions o = options("qsgd");
  o.bits = bits;
  o.scaled = scaled;
  o.bucket = bucket;
  return o;
}

inline CodecOptions keep(std::string kind, std::size_t k, bool unbiased = false) {
  CodecOptions o = options(std::move(kind));
  o.k = k;
  o.unbiased = unbiased;
  return o;
}

inline CodecOptions keep_share(std::string kind, double fraction) {
  CodecOptions o = options(std::move(kind));
  o.fraction = fraction;
  return o;
}

// Every kind, in every way its options can bend the layout.
inline std::vector<CodecOptions> every_codec() {
  std::vector<CodecOptions> all{options("identity"), options("sign")};
  for (const int bits : {1, 2, 3, 4, 5, 7, 8, 11, 16})
    for (const bool scaled : {true, false})
      for (const std::size_t bucket : {0, 1, 7, 64, 100}) all.push_back(qsgd(bits, scaled, bucket));
  for (const char* kind : {"top_k", "rand_k"}) {
    for (const std::size_t k : {1, 3, 64}) all.push_back(keep(kind, k));
    for (const double fraction : {0.1, 0.5, 1.0}) all.push_back(keep_share(kind, fraction));
  }
  all.push_back(keep("rand_k", 5, true));
  return all;
}

inline std::string name(const CodecOptions& o) {
  std::string text = o.kind + " bits " + std::to_string(o.bits) + " bucket " +
                     std::to_string(o.bucket) + (o.scaled ? " scaled" : " unscaled");
  if (o.k) text += " k " + std::to_string(*o.k);
  if (o.fraction) text += " fraction " + std::to_string(*o.fraction);
  return text;
}

inline std::string hex(std::span<const std::byte> bytes) {
  static const char* digits = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    text += digits[std::to_integer<unsigned>(b) >> 4];
    text += digits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

inline Bytes random_bytes(std::size_t count, Generator& random) {
  Bytes bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.bits());
  return bytes;
}

// ENC, with the buffer full of rubbish before: ENC must replace it.
template <class T>
Bytes encoded(const Codec<T>& codec, const std::vector<T>& v, const Noise& message) {
  Bytes out(3, std::byte{0xa5});
  if (!codec.encode(v, message, out)) throw std::runtime_error("encode refused a finite row");
  return out;
}

template <class T>
std::vector<T> decoded(const Codec<T>& codec, const Bytes& in, const Noise& message,
                       std::size_t d) {
  std::vector<T> q(d, T{123});
  if (!codec.decode(in, message, q)) throw std::runtime_error("decode refused a payload of encode");
  return q;
}

}  // namespace ticopd::testing
