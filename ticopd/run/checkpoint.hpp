#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "ticopd/algorithms/any_run.hpp"

namespace ticopd {

// A checkpoint is one safetensors file: every field and mirror of the run as an n x d tensor, and
// strings that say the rest. Rows are stored by agent, not by rank, so a run may resume on another
// number of ranks; ghost rows are read back from their owners' rows.
using CheckpointNotes = std::map<std::string, std::string>;

// Every rank calls it with the same notes and writes its own rows at their offsets. The file gets
// its name only when it is complete and on the disk, so the last complete one is never lost.
template <class T>
void save_checkpoint(const std::filesystem::path& file, AnyNetwork<T>& net, AnyRun<T>& run,
                     const CheckpointNotes& notes);

// Reads the strings alone. FormatError if the file is not a whole checkpoint of ours.
CheckpointNotes read_checkpoint_notes(const std::filesystem::path& file);

// Fills the run's fields and mirrors. FormatError if a tensor is missing or has another shape.
template <class T>
void load_checkpoint(const std::filesystem::path& file, AnyNetwork<T>& net, AnyRun<T>& run);

extern template void save_checkpoint<float>(const std::filesystem::path&, AnyNetwork<float>&,
                                            AnyRun<float>&, const CheckpointNotes&);
extern template void save_checkpoint<double>(const std::filesystem::path&, AnyNetwork<double>&,
                                             AnyRun<double>&, const CheckpointNotes&);
extern template void load_checkpoint<float>(const std::filesystem::path&, AnyNetwork<float>&,
                                            AnyRun<float>&);
extern template void load_checkpoint<double>(const std::filesystem::path&, AnyNetwork<double>&,
                                             AnyRun<double>&);

}  // namespace ticopd
