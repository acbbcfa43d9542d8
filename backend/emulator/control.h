// What only an emulated device can do: be set up, fail when asked to, and tell what was asked of
// it. Tests find these functions in its libcuda.so.1, beside those of the driver API.
//
// $OPCAST_EMULATED_DEVICES lists the architectures of its devices: "90,80" for sm_90 and sm_80, or
// "gfx90a,gfx942". Without it there are the former, or in the library for AMD's devices one for
// each architecture of the build. Device k has 8 - k multiprocessors.
#pragma once

#include "cuda.h"

#pragma GCC visibility push(default)
extern "C" {

// The launch of a kernel. The driver keeps `closure` until it has run for the last time.
struct EmulatedLaunch {
  unsigned grid[3], block[3];  // blocks, and threads of each
  unsigned cluster[3];         // blocks that run together; all 1 for none
  size_t shared;               // bytes of shared memory, and the most that the kernel has asked for
  size_t most_shared;
  bool cooperative, overlaps;   // may wait for its whole grid; may begin before the one before ends
  const void* const* pointers;  // arguments that are pointers
  int pointer_count;
  void* closure;
  void (*run)(void* closure);
  void (*destroy)(void* closure);
};
CUresult cuEmulatorLaunch(const EmulatedLaunch* launch, CUstream stream);

// Has the driver call that comes after `after` others return an error, once, and do nothing.
void cuEmulatorFail(int64_t after, CUresult code);
// The number of driver calls so far.
int64_t cuEmulatorCalls();

// What was done since the record was begun or last read: a line for each driver call, "! " before
// those that were refused, and one for each piece of work when it runs. A function of HIP's comes
// after the driver calls that it makes, and in the same way. The text stays until the next call.
void cuEmulatorBeginRecord();
const char* cuEmulatorReadRecord();

// How many contexts, streams, events, graphs and pieces of memory there are.
int64_t cuEmulatorAlive();
}  // extern "C"
#pragma GCC visibility pop
