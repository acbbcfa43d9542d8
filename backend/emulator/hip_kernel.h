// What stands for the code of a kernel on an emulated device of AMD's, where HIP has a compiled
// one.
#pragma once

#include <hip/hip_runtime_api.h>

#include <vector>

#include "control.h"

struct EmulatedKernel {
  // Has a launch, whose sizes are known, run the kernel with these arguments, which it copies, and
  // tells which of them are pointers.
  void (*fill)(void** arguments, EmulatedLaunch* launch, std::vector<const void*>* pointers);
};

// What units call when a library is loaded, as those do that clang compiles for HIP.
#pragma GCC visibility push(default)
extern "C" {

void** __hipRegisterFatBinary(const void* code);
void __hipRegisterFunction(void** unit, const void* function, char* device_function,
                           const char* device_name, unsigned threads, void* thread, void* block,
                           void* block_size, void* grid_size, int* wave);

}  // extern "C"
#pragma GCC visibility pop
