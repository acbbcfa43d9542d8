// A CUDA device on which kernels are launched and nothing runs, for predictions: it records what a
// call would start. `opcast predict` links a collection's objects, as nvcc compiled them, with
// runtime.cc in place of CUDA's runtime, and puts driver.cc under the name of CUDA's driver.
//
// $OPCAST_RECORD is the file to which lines are appended:
//
//   memory ADDRESS BYTES             the caller has allocated an array
//   launch KERNEL GRID BLOCK CLUSTER SHARED WORD...
//                                    three numbers each, bytes of dynamic shared memory, and the
//                                    8-byte words of the parameters
//   fill ADDRESS BYTES               cudaMemsetAsync
//   copy ADDRESS ADDRESS BYTES       cudaMemcpyAsync, to and from
//
// Kernels have their mangled names, numbers that are addresses or words are hexadecimal.
// $OPCAST_RECORD_KERNELS is a file with a line "KERNEL SIZE..." for each kernel: the sizes of its
// parameters, which the calls of CUDA's runtime do not say. $OPCAST_RECORD_DEVICE is "ARCH SMS
// SHARED": the compute capability times 10, multiprocessors, and the most shared memory of a block.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace recorder {

// Appends a line to the record.
inline void Write(const std::string& line) {
  const char* const name = std::getenv("OPCAST_RECORD");
  std::FILE* const file = name == nullptr ? nullptr : std::fopen(name, "a");
  if (file == nullptr) return;
  std::fputs((line + "\n").c_str(), file);
  std::fclose(file);
}

inline std::string Hex(unsigned long long number) {
  char text[24];
  std::snprintf(text, sizeof text, "%llx", number);
  return text;
}

struct Device {
  int arch = 90, multiprocessors = 132, shared = 232448;
};

inline Device TheDevice() {
  Device d;
  const char* const text = std::getenv("OPCAST_RECORD_DEVICE");
  if (text != nullptr) std::sscanf(text, "%d %d %d", &d.arch, &d.multiprocessors, &d.shared);
  return d;
}

}  // namespace recorder
