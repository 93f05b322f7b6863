#pragma once

// All that a plug-in needs: the tables, the concepts behind them, and its entry point.
//
//   #include <ticopd/plugin.hpp>
//
//   TICOPD_PLUGIN("halves", "1.0") {
//     ticopd::codec_table().add(ticopd::codec_info<Halves>());
//   }
//
// `ticopd_plugin(halves halves.cpp)` of CMake builds it, `ticopd run FILE --plugin ./halves.so`
// takes it. docs/extending.md has examples.

#include <version>

#include "ticopd/algorithms/table.hpp"
#include "ticopd/codecs/table.hpp"
#include "ticopd/data/table.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/network/cpu.hpp"
#include "ticopd/network/mirror.hpp"
#include "ticopd/objectives/registry.hpp"
#include "ticopd/run/metrics.hpp"
#include "ticopd/system/plugins.hpp"

#ifndef TICOPD_PLUGIN_FOR
#error "link ticopd::plugin (or use ticopd_plugin() of CMake): it says which ticopd this is for"
#endif

namespace ticopd {

// Whoever is compiled with other headers sees other sizes here, most likely.
constexpr std::uint32_t plugin_layout() {
  std::uint32_t mixed = 2166136261u;  // FNV-1a
  for (const std::size_t size :
       {sizeof(AlgorithmInfo),     sizeof(ParameterInfo),    sizeof(AlgorithmOptions),
        sizeof(CodecInfo),         sizeof(CodecOptions),     sizeof(Codec<float>),
        sizeof(GraphInfo),         sizeof(GraphOptions),     sizeof(Graph),
        sizeof(ObjectiveInfo),     sizeof(ObjectiveOptions), sizeof(DataInfo),
        sizeof(DataOptions),       sizeof(MetricInfo),       sizeof(Metrics),
        sizeof(CpuNetwork<float>), sizeof(CpuMirror<float>), sizeof(Field<float>),
        sizeof(Schedule),          sizeof(OptionInfo),       sizeof(Table<CodecInfo>),
        sizeof(std::string)})
    mixed = (mixed ^ static_cast<std::uint32_t>(size)) * 16777619u;
  return mixed;
}

// A text that is too long does not compile.
template <std::size_t n>
constexpr void put_text(char (&into)[n], std::string_view text) {
  if (text.size() >= n) throw "this text is too long for the record of a plug-in";
  for (std::size_t i = 0; i < text.size(); ++i) into[i] = text[i];
}

constexpr PluginRecord plugin_record(std::string_view name, std::string_view version) {
  PluginRecord record;
  record.layout = plugin_layout();
  put_text(record.ticopd_version, TICOPD_PLUGIN_FOR);
#if defined(_LIBCPP_VERSION)
  put_text(record.library, "libc++");
#elif defined(_GLIBCXX_DEBUG)
  put_text(record.library, "libstdc++ with _GLIBCXX_DEBUG");
#elif defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
  put_text(record.library, "libstdc++ with the old ABI of strings");
#else
  put_text(record.library, "libstdc++");
#endif
  put_text(record.name, name);
  put_text(record.version, version);
  return record;
}

constexpr PluginNote plugin_note(std::string_view name, std::string_view version) {
  PluginNote note;
  note.record = plugin_record(name, version);
  return note;
}

}  // namespace ticopd

// The entry point of a plug-in, once in each, outside of any namespace. Its body adds entries to
// the tables. NAME and VERSION are the plug-in's own, for run.json.
#define TICOPD_PLUGIN(NAME, VERSION)                                                     \
  __attribute__((section(".note.ticopd"), used,                                          \
                 aligned(4))) static constexpr ::ticopd::PluginNote ticopd_plugin_note = \
      ::ticopd::plugin_note(NAME, VERSION);                                              \
  static void ticopd_plugin_entries();                                                   \
  extern "C" __attribute__((visibility("default"))) const void* ticopd_plugin_core() {   \
    return ::ticopd::core_mark();                                                        \
  }                                                                                      \
  extern "C" __attribute__((visibility("default"))) void ticopd_plugin_enter() {         \
    ticopd_plugin_entries();                                                             \
  }                                                                                      \
  static void ticopd_plugin_entries()
