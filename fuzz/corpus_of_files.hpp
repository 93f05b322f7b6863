#pragma once

#include <map>
#include <string>

#include "ticopd/bytes.hpp"

namespace ticopd {

using Corpus = std::map<std::string, Bytes>;  // by name below the folder of the corpus

// Inputs that are not text: .npy and IDX files, and edits of checkpoints.
void add_npy(Corpus& all);
void add_idx(Corpus& all);
void add_checkpoint(Corpus& all);
// The files of sites (corpus_of_sites.cpp).
void add_messages(Corpus& all);
void add_session(Corpus& all);
void add_site_checkpoint(Corpus& all);
void add_signed_roster(Corpus& all);

}  // namespace ticopd
