// layers.hpp in vectors of samples. Highway compiles this file once for each instruction set and
// picks one at run time. Columns past the last sample, up to a whole vector, are computed too. They
// are kept finite forward and zero backward, so they add nothing to any sum.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ticopd/kernels/layers_vector.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "ticopd/kernels/layers.hpp"
#include "ticopd/kernels/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ticopd {
namespace HWY_NAMESPACE {
namespace {

// The rows of a product that are summed at once, two vectors of samples each: as many as fit in
// registers. Ten classes fit.
constexpr std::size_t most_rows = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64 ? 10 : 6;

template <class F>
HWY_INLINE void on_rows(const float* b, std::size_t rows, Lanes<float> v, F phi) {
  for (std::size_t j = 0; j < rows; ++j) {
    const V bias = hn::Set(d, b[j]);
    float* row = v.row(j);
    for (std::size_t i = 0; i < v.count; i += width)
      hn::Store(phi(hn::Add(hn::Load(d, row + i), bias)), d, row + i);
  }
}

void activate(Activation phi, const float* b, std::size_t rows, Lanes<float> v) {
  switch (phi) {
    case Activation::sigmoid:
      return on_rows(b, rows, v, [](V x) HWY_ATTR { return sigmoid(x); });
    case Activation::tanh:
      return on_rows(b, rows, v, [](V x) HWY_ATTR { return tangent(x); });
    case Activation::relu:  // NaN is not below zero
      return on_rows(b, rows, v,
                     [](V x) HWY_ATTR { return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x); });
  }
}

// phi'(z) by h = phi(z)
HWY_INLINE V derivative(Activation phi, V h) {
  const V one = hn::Set(d, 1.0f);
  if (phi == Activation::sigmoid) return hn::NegMulAdd(h, h, h);
  if (phi == Activation::tanh) return hn::Mul(hn::Sub(one, h), hn::Add(one, h));
  return hn::IfThenElse(hn::Gt(h, hn::Zero(d)), one, hn::Mul(hn::Zero(d), h));
}

// Weights with two strides; swapping them transposes the product.
struct View {
  const float* at;
  std::size_t row, column;
};

// sum[r][h] = sum_k a(r, k) in(k, i + h width ...), for R rows and two vectors.
template <std::size_t R, class Finish>
HWY_INLINE void rows_at(View a, std::size_t inner, Lanes<const float> in, std::size_t i,
                        const Finish& finish) {
  V sum[R][2];
  for (std::size_t r = 0; r < R; ++r) sum[r][0] = sum[r][1] = hn::Zero(d);
  const float* column = a.at;
  const float* x = in.at + i;
  for (std::size_t k = 0; k < inner; ++k, column += a.column, x += in.stride) {
    const V low = hn::Load(d, x), high = hn::Load(d, x + width);
    for (std::size_t r = 0; r < R; ++r) {
      const V weight = hn::Set(d, column[r * a.row]);
      sum[r][0] = hn::MulAdd(weight, low, sum[r][0]);
      sum[r][1] = hn::MulAdd(weight, high, sum[r][1]);
    }
  }
  for (std::size_t r = 0; r < R; ++r) finish(r, sum[r][0], sum[r][1]);
}

// The tail of fewer than most_rows rows is found at compile time, one template for each number.
template <std::size_t R, class Finish>
HWY_INLINE void last_rows_at(std::size_t rows, View a, std::size_t inner, Lanes<const float> in,
                             std::size_t i, const Finish& finish) {
  if constexpr (R > 0) {
    if (rows == R) return rows_at<R>(a, inner, in, i, finish);
    last_rows_at<R - 1>(rows, a, inner, in, i, finish);
  }
}

// finish(r, i, low, high) gets row r of a in at the samples i ..., two vectors of them; the second
// may lie past the last sample, in the padding of the rows.
template <class Finish>
HWY_INLINE void product(View a, std::size_t rows, std::size_t inner, Lanes<const float> in,
                        const Finish& finish) {
  for (std::size_t i = 0; i < in.count; i += 2 * width)
    for (std::size_t first = 0; first < rows; first += most_rows) {
      const View part{a.at + first * a.row, a.row, a.column};
      const auto store = [&](std::size_t r, V low, V high)
                             HWY_ATTR { finish(first + r, i, low, high); };
      if (rows - first >= most_rows)
        rows_at<most_rows>(part, inner, in, i, store);
      else
        last_rows_at<most_rows - 1>(rows - first, part, inner, in, i, store);
    }
}

// Sums the terms in short chunks and adds each chunk without rounding error.
void multiply(const float* w, std::size_t rows, std::size_t inner, Lanes<const float> in,
              Lanes<float> out, Lanes<float> lost) {
  constexpr std::size_t chunk = 12;
  for (std::size_t k = 0; k < inner; k += chunk) {
    const auto add = [&](V sum, float* to, float* rest) HWY_ATTR {
      V low = hn::Zero(d);
      if (k > 0) {
        const V before = hn::Load(d, rest);
        sum = exact_sum(hn::Load(d, to), sum, low);
        low = hn::Add(low, before);
      }
      hn::Store(sum, d, to);
      hn::Store(low, d, rest);
    };
    product({w + k, inner, 1}, rows, std::min(chunk, inner - k), {in.row(k), in.stride, in.count},
            [&](std::size_t r, std::size_t i, V low, V high) HWY_ATTR {
              add(low, out.row(r) + i, lost.row(r) + i);
              if (i + width < out.count) add(high, out.row(r) + i + width, lost.row(r) + i + width);
            });
  }
}

void back(Activation phi, const float* w, std::size_t rows, std::size_t inner,
          Lanes<const float> delta, Lanes<float> h) {
  product({w, 1, inner}, inner, rows, delta,
          [&](std::size_t k, std::size_t i, V low, V high) HWY_ATTR {
            float* at = h.row(k) + i;
            hn::Store(hn::Mul(low, derivative(phi, hn::Load(d, at))), d, at);
            at += width;
            if (i + width < h.count)
              hn::Store(hn::Mul(high, derivative(phi, hn::Load(d, at))), d, at);
          });
}

HWY_INLINE float total(V v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}

template <std::size_t R>
HWY_INLINE void outer_rows(Lanes<const float> delta, Lanes<const float> in, std::size_t inner,
                           float* g) {
  for (std::size_t k = 0; k < inner; k += 2) {
    const bool both = k + 1 < inner;
    const float* x = in.row(k);
    const float* y = both ? in.row(k + 1) : x;
    V sum[R][2];
    for (std::size_t r = 0; r < R; ++r) sum[r][0] = sum[r][1] = hn::Zero(d);
    for (std::size_t i = 0; i < in.count; i += width) {
      const V left = hn::Load(d, x + i), right = hn::Load(d, y + i);
      for (std::size_t r = 0; r < R; ++r) {
        const V slope = hn::Load(d, delta.row(r) + i);
        sum[r][0] = hn::MulAdd(slope, left, sum[r][0]);
        sum[r][1] = hn::MulAdd(slope, right, sum[r][1]);
      }
    }
    for (std::size_t r = 0; r < R; ++r) {
      g[r * inner + k] += total(sum[r][0]);
      if (both) g[r * inner + k + 1] += total(sum[r][1]);
    }
  }
}

template <std::size_t R>
HWY_INLINE void last_outer_rows(std::size_t rows, Lanes<const float> delta, Lanes<const float> in,
                                std::size_t inner, float* g) {
  if constexpr (R > 0) {
    if (rows == R) return outer_rows<R>(delta, in, inner, g);
    last_outer_rows<R - 1>(rows, delta, in, inner, g);
  }
}

void outer(Lanes<const float> delta, std::size_t rows, Lanes<const float> in, std::size_t inner,
           float* g_w) {
  for (std::size_t first = 0; first < rows; first += most_rows) {
    const Lanes<const float> part{delta.row(first), delta.stride, delta.count};
    float* g = g_w + first * inner;
    if (rows - first >= most_rows)
      outer_rows<most_rows>(part, in, inner, g);
    else
      last_outer_rows<most_rows - 1>(rows - first, part, in, inner, g);
  }
}

void row_sums(Lanes<const float> delta, std::size_t rows, float* g_b) {
  for (std::size_t r = 0; r < rows; ++r) {
    V sum = hn::Zero(d);
    for (std::size_t i = 0; i < delta.count; i += width)
      sum = hn::Add(sum, hn::Load(d, delta.row(r) + i));
    g_b[r] += total(sum);
  }
}

// A logit as an unevaluated sum of two floats.
struct Logit {
  V high, low;
};

// One vector of samples: z is its column, `low` the rounding errors of its logits. The delta of the
// label is minus the sum of the others, never p_y - 1: on a well-fitted shard p_y rounds to 1 and
// the difference would have no correct digit; log1p for the same reason. Lanes past the last sample
// get deltas and losses of zero.
HWY_INLINE V softmax_at(std::size_t classes, V label, V scale, hn::Mask<D> real, float* z,
                        std::size_t stride, const float* low) {
  const auto logit = [&](std::size_t c) HWY_ATTR {
    return Logit{hn::Load(d, z + c * stride), hn::Load(d, low + c * width)};
  };
  Logit top = logit(0), mine = top;
  V at = hn::Zero(d);  // the first class that has the largest logit
  for (std::size_t c = 0; c < classes; ++c) {
    const Logit mark = logit(c);
    const V number = hn::Set(d, static_cast<float>(c));
    const auto larger = hn::Gt(mark.high, top.high), is_label = hn::Eq(label, number);
    at = hn::IfThenElse(larger, number, at);
    top = {hn::IfThenElse(larger, mark.high, top.high), hn::IfThenElse(larger, mark.low, top.low)};
    mine = {hn::IfThenElse(is_label, mark.high, mine.high),
            hn::IfThenElse(is_label, mark.low, mine.low)};
  }
  V own = hn::Zero(d), below = own, others = own;
  for (std::size_t c = 0; c < classes; ++c) {
    const Logit mark = logit(c);
    const V number = hn::Set(d, static_cast<float>(c));
    V rest;
    const V difference = exact_sum(mark.high, hn::Neg(top.high), rest);
    rest = hn::Add(rest, hn::Sub(mark.low, top.low));
    V e = exp_of_negative(difference);
    e = hn::MulAdd(e, rest, e);  // exp(difference + rest)
    const auto largest = hn::Eq(at, number);
    own = hn::IfThenElse(largest, e, own);
    below = hn::Add(below, hn::IfThenZeroElse(largest, e));
    others = hn::Add(others, hn::IfThenZeroElse(hn::Eq(label, number), e));
    hn::Store(e, d, z + c * stride);
  }
  const V factor = hn::IfThenElseZero(real, hn::Div(scale, hn::Add(own, below)));
  const V of_label = hn::Neg(hn::Mul(others, factor));
  for (std::size_t c = 0; c < classes; ++c) {
    const V share = hn::Mul(hn::Load(d, z + c * stride), factor);
    const auto is_label = hn::Eq(label, hn::Set(d, static_cast<float>(c)));
    hn::Store(hn::IfThenElseZero(real, hn::IfThenElse(is_label, of_label, share)), d,
              z + c * stride);
  }
  // below - below keeps NaN: Log1p of NaN gives a number.
  const V tail = hn::Add(hn::Log1p(d, below), hn::Sub(below, below));
  const V distance = hn::Add(hn::Sub(top.high, mine.high), hn::Sub(top.low, mine.low));
  return hn::IfThenElseZero(real, hn::Add(distance, tail));
}

double cross_entropy(const float* b, std::size_t classes, const float* labels, float scale,
                     Lanes<float> z, Lanes<const float> lost) {
  struct Low;
  float* low = scratch<float, Low>(classes * width);
  alignas(64) float label[lane_group], part[lane_group];
  double loss = 0.0;
  for (std::size_t i = 0; i < z.count; i += width) {
    const std::size_t real = std::min(width, z.count - i);
    std::fill_n(label, width, 0.0f);
    std::copy_n(labels + i, real, label);
    for (std::size_t c = 0; c < classes; ++c) {
      V rest;
      const V sum = exact_sum(hn::Load(d, z.row(c) + i), hn::Set(d, b[c]), rest);
      if (lost.at != nullptr) rest = hn::Add(rest, hn::Load(d, lost.row(c) + i));
      hn::Store(sum, d, z.row(c) + i);
      // Beside such a large value the error does not matter, and for an infinity it would be NaN.
      const auto small = hn::Lt(hn::Abs(sum), hn::Set(d, 1e30f));
      hn::Store(hn::IfThenElseZero(small, rest), d, low + c * width);
    }
    hn::Store(softmax_at(classes, hn::Load(d, label), hn::Set(d, scale), hn::FirstN(d, real),
                         z.at + i, z.stride, low),
              d, part);
    for (std::size_t l = 0; l < real; ++l) loss += static_cast<double>(part[l]);
  }
  return static_cast<double>(scale) * loss;
}

}  // namespace

const Layers<float>& table() {
  static constexpr Layers<float> functions{activate, multiply, outer,
                                           row_sums, back,     cross_entropy};
  return functions;
}

}  // namespace HWY_NAMESPACE
}  // namespace ticopd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ticopd {

HWY_EXPORT(table);

const Layers<float>& vector_layers() {
  return HWY_DYNAMIC_DISPATCH(table)();
}

}  // namespace ticopd
#endif
