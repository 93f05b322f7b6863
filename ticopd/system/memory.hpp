#pragma once

#include <cstddef>

namespace ticopd {

// Bytes of this process in memory, now and at its peak; 0 if the system does not say.
std::size_t resident_bytes();
std::size_t peak_resident_bytes();

// Bytes that this process may still take: what the system has, or what control groups leave of
// their limit. Files in the cache do not count, since they give way. A huge number if nobody says.
double available_bytes();

// Returns freed memory that the allocator still holds to the system. After data was read and laid
// out anew, that is as much as the data.
void give_memory_back();

}  // namespace ticopd
