// How many threads a call may use.
#pragma once

#include <cstdint>

namespace opcast {

constexpr int kMaxThreads = 4096;

// How many threads a call from this thread may use, the caller included: what SetNumThreads has
// set, else <NAME>_NUM_THREADS, else the CPUs that the process may use. Fewer if the framework's
// limit says so. At least 1.
int NumThreads() noexcept;

// Sets the number for all calls of the process that begin later; throws std::invalid_argument
// unless it lies between 1 and kMaxThreads. Threads that have started stay, without work.
void SetNumThreads(int count);

// Stores how many threads the framework allows to the calling thread; returns 0, or an error code.
using ThreadLimit = int32_t (*)(uint32_t* count);

// Has every call that could use more than one thread ask a framework first; null: none.
void LimitThreads(ThreadLimit limit);

}  // namespace opcast
