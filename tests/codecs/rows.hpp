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

// Normal coordinates of very different sizes, with some zeros and negative zeros.
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

inline CodecOptions coded(CodecOptions o, Coding coding) {
  o.coding = coding;
  return o;
}

inline CodecOptions bucketed(std::string kind, std::size_t bucket) {
  CodecOptions o = options(std::move(kind));
  o.bucket = bucket;
  return o;
}

inline CodecOptions infinity(int bits, std::size_t bucket = 0) {
  CodecOptions o = bucketed("infinity", bucket);
  o.bits = bits;
  return o;
}

inline CodecOptions gossip(double p) {
  CodecOptions o = options("random_gossip");
  o.p = p;
  return o;
}

inline CodecOptions adaptive(double omega, double step) {
  CodecOptions o = options("adaptive");
  o.omega = omega;
  o.step = step;
  return o;
}

inline CodecOptions threshold(double t) {
  CodecOptions o = options("threshold");
  o.threshold = t;
  return o;
}

inline CodecOptions grid(int bits, double r0 = 1, double kappa = 0.99) {
  CodecOptions o = options("grid");
  o.bits = bits;
  o.r0 = r0;
  o.kappa = kappa;
  return o;
}

inline CodecOptions followed(CodecOptions o, std::string then, int bits = 8, bool scaled = true,
                             std::size_t bucket = 0) {
  o.then = std::move(then);
  o.bits = bits;
  o.scaled = scaled;
  o.bucket = bucket;
  return o;
}

// All kinds after the first five, and compositions.
inline std::vector<CodecOptions> later_codecs() {
  std::vector<CodecOptions> all{gossip(0.5), gossip(0.05), gossip(1)};
  for (const char* kind : {"sign", "norm_sign"})
    for (const std::size_t bucket : {0, 1, 7, 64, 100}) all.push_back(bucketed(kind, bucket));
  std::vector<CodecOptions> any_coding;
  for (const int bits : {1, 2, 5, 8, 9, 16})
    for (const std::size_t bucket : {0, 7, 64}) any_coding.push_back(infinity(bits, bucket));
  for (const CodecOptions& o :
       {options("natural"), adaptive(0.25, 1e-3), adaptive(0.01, 1e-6), grid(16)})
    any_coding.push_back(o);
  for (const int bits : {1, 3, 8}) any_coding.push_back(grid(bits));
  for (const double t : {0.0, 0.1, 1.0}) any_coding.push_back(threshold(t));
  any_coding.push_back(keep("top_k", 3));
  any_coding.push_back(keep_share("top_k", 0.5));
  for (const char* then : {"qsgd", "sign", "natural", "norm_sign", "infinity"})
    for (const CodecOptions& o : {keep("top_k", 20), keep("rand_k", 20), keep("rand_k", 20, true),
                                  threshold(0.2), keep_share("top_k", 0.1)})
      any_coding.push_back(followed(o, then));
  any_coding.push_back(followed(keep("top_k", 20), "qsgd", 4, false, 7));
  any_coding.push_back(followed(threshold(0.05), "qsgd", 3, true, 5));
  for (const CodecOptions& o : any_coding)
    for (const Coding coding : {Coding::fixed, Coding::entropy, Coding::elias})
      all.push_back(coded(o, coding));
  return all;
}

// Every kind with all options that change its layout.
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
  for (const Coding coding : {Coding::entropy, Coding::elias})
    for (const int bits : {1, 4, 8, 11, 16}) {
      all.push_back(coded(qsgd(bits), coding));
      all.push_back(coded(qsgd(bits, false, 7), coding));
    }
  for (CodecOptions& o : later_codecs()) all.push_back(std::move(o));
  return all;
}

inline std::string name(const CodecOptions& o) {
  std::string text = o.kind + " bits " + std::to_string(o.bits) + " bucket " +
                     std::to_string(o.bucket) + (o.scaled ? " scaled" : " unscaled");
  if (o.k) text += " k " + std::to_string(*o.k);
  if (o.fraction) text += " fraction " + std::to_string(*o.fraction);
  if (o.kind == "threshold") text += " threshold " + std::to_string(o.threshold);
  if (o.kind == "random_gossip") text += " p " + std::to_string(o.p);
  if (o.kind == "adaptive") text += " omega " + std::to_string(o.omega);
  if (!o.then.empty()) text += " then " + o.then;
  if (o.unbiased) text += " unbiased";
  if (o.coding != Coding::fixed) text += o.coding == Coding::entropy ? " entropy" : " elias";
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

// ENC into a buffer that holds old bytes, which ENC must replace.
template <class T>
Bytes encoded(const Codec<T>& codec, const std::vector<T>& v, const MessageId& message) {
  Bytes out(3, std::byte{0xa5});
  if (!codec.encode(v, message, out)) throw std::runtime_error("encode refused a finite row");
  return out;
}

template <class T>
std::vector<T> decoded(const Codec<T>& codec, const Bytes& in, const MessageId& message,
                       std::size_t d) {
  std::vector<T> q(d, T{123});
  if (!codec.decode(in, message, q)) throw std::runtime_error("decode refused a payload of encode");
  return q;
}

}  // namespace ticopd::testing
