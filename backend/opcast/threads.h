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

// Runs part(begin, end, data) for consecutive parts of [0, count), on threads of a framework and on
// the caller's, and returns when all parts that have begun are done; 0, or an error code. The
// signature is PyTorch's, of its function torch_parallel_for.
using LentThreads = int32_t (*)(int64_t begin, int64_t end, int64_t grain,
                                void (*part)(int64_t begin, int64_t end, void* data), void* data);

// What runs the loops of calls from this thread; null for the pool of the library. Two pools would
// compete for the cores: whoever calls for a framework that has one sets it around the call.
LentThreads* Lent() noexcept;

}  // namespace opcast
