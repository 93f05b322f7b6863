#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/algorithms/any_run.hpp"

namespace ticopd {

// A checkpoint is one safetensors file: every field and mirror of the run is an n x d tensor, and
// everything else is a string, a note. Rows are stored by agent, not by rank, so a run may resume
// on another number of ranks. Ghost rows are read from their owners' rows.
using CheckpointNotes = std::map<std::string, std::string>;

// Collective: every rank calls it with the same notes and writes its own rows at their offsets. The
// file gets its name only when it is complete and on the disk, so the last complete checkpoint is
// never lost.
template <class T>
void save_checkpoint(const std::filesystem::path& file, AnyNetwork<T>& net, AnyRun<T>& run,
                     const CheckpointNotes& notes);

// A checkpoint in memory, of a run in one process.
struct CheckpointImage {
  std::uint32_t round = 0;
  std::string head;
  std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> pieces;  // with their offsets
};
template <class T>
CheckpointImage checkpoint_image(AnyNetwork<T>& net, AnyRun<T>& run, const CheckpointNotes& notes);
void write_checkpoint(const std::filesystem::path& file, const CheckpointImage& image);

// Reads only the notes. FormatError if the file is not a checkpoint or its header is damaged.
CheckpointNotes read_checkpoint_notes(const std::filesystem::path& file);

// Fills the run's fields and mirrors. FormatError if a tensor is missing, is damaged or has another
// shape.
template <class T>
void load_checkpoint(const std::filesystem::path& file, AnyNetwork<T>& net, AnyRun<T>& run);

extern template void save_checkpoint<float>(const std::filesystem::path&, AnyNetwork<float>&,
                                            AnyRun<float>&, const CheckpointNotes&);
extern template void save_checkpoint<double>(const std::filesystem::path&, AnyNetwork<double>&,
                                             AnyRun<double>&, const CheckpointNotes&);
extern template CheckpointImage checkpoint_image<float>(AnyNetwork<float>&, AnyRun<float>&,
                                                        const CheckpointNotes&);
extern template CheckpointImage checkpoint_image<double>(AnyNetwork<double>&, AnyRun<double>&,
                                                         const CheckpointNotes&);
extern template void load_checkpoint<float>(const std::filesystem::path&, AnyNetwork<float>&,
                                            AnyRun<float>&);
extern template void load_checkpoint<double>(const std::filesystem::path&, AnyNetwork<double>&,
                                             AnyRun<double>&);

}  // namespace ticopd
