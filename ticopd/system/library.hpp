#pragma once

#include <filesystem>

namespace ticopd {

// The folder of the program or shared library that this code is linked into; empty if unknown.
std::filesystem::path own_folder();

// Opens a shared library as a copy that nothing else in this process uses: its settings are the
// caller's alone. `name` is what dlopen takes. Null if the library or the means for a copy are
// missing. The copy stays loaded.
void* open_own_copy(const char* name);

}  // namespace ticopd
