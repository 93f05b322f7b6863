#pragma once

#include "ticopd/codecs/scalar_loops.hpp"

namespace ticopd {

// The loops of ScalarLoops<float> in vector instructions, with the same bits. Highway compiles them
// for each instruction set and chooses one at the first call.
struct VectorLoops {
  static double sum_of_squares(Source<float> v);
  static double sum_of_magnitudes(Source<float> v);
  static void draw(const MessageId& message, std::size_t first, std::size_t count,
                   std::uint32_t* out);

  template <class Level>
  static void quantise(Source<float> v, const std::uint32_t* noise, const Scale<float>& by,
                       Level* levels);
  template <class Level>
  static void dequantise(const Level* levels, const std::byte* signs, std::size_t first, float unit,
                         std::span<float> q);

  static void take_signs(Source<float> v, std::byte* out);
  static void give_signs(const std::byte* signs, float value, std::span<float> q);

  template <class Level>
  static void pack(std::span<const Level> levels, unsigned bits, std::byte* out);
  template <class Level>
  static void unpack(const std::byte* in, unsigned bits, std::span<Level> levels);
};

// Rows of double. Most of their work is drawing noise, and their noise words are those of float
// rows, so the vector loop draws them.
struct DoubleLoops : ScalarLoops<double> {
  static void draw(const MessageId& message, std::size_t first, std::size_t count,
                   std::uint32_t* out) {
    VectorLoops::draw(message, first, count, out);
  }
};

template <class T>
struct LoopsOf;
template <>
struct LoopsOf<float> {
  using Best = VectorLoops;
};
template <>
struct LoopsOf<double> {
  using Best = DoubleLoops;
};
template <class T>
using BestLoops = typename LoopsOf<T>::Best;

}  // namespace ticopd
