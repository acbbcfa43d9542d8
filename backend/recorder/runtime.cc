// CUDA's runtime on the device on which nothing runs: the functions that compiled kernels and
// opcast's runtime call, and those that libraries of headers ask before they launch. The types are
// laid out as CUDA's are; its headers are not needed. A library that calls another function of the
// runtime is not loaded, and the loader's message names that function.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

#include "record.h"

namespace recorder {
namespace {

struct Dim3 {
  unsigned x, y, z;
};

// cudaLaunchAttribute: 8 bytes for its number, 64 for its value.
struct Attribute {
  int id, padding;
  unsigned value[16];
};

// cudaLaunchConfig_t.
struct Config {
  Dim3 grid, block;
  size_t shared;
  void* stream;
  Attribute* attributes;
  unsigned count;
};

std::string Text(const Dim3& d) {
  return std::to_string(d.x) + " " + std::to_string(d.y) + " " + std::to_string(d.z);
}

// The kernels of the process: their names by the functions that stand for them on the host, and the
// sizes of their parameters by name.
class Kernels {
 public:
  static Kernels& All() {
    static Kernels all;
    return all;
  }

  void Add(const void* host, const char* name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    names_[host] = name;
  }

  void Launch(const void* host, const Dim3& grid, const Dim3& block, const Dim3& cluster,
              size_t shared, void** parameters) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string& name = names_[host];
    std::string line = "launch " + name + " " + Text(grid) + " " + Text(block) + " " +
                       Text(cluster) + " " + std::to_string(shared);
    const std::vector<size_t>& sizes = sizes_[name];
    for (size_t i = 0; i < sizes.size(); ++i) {
      for (size_t at = 0; at + sizeof(uint64_t) <= sizes[i]; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        std::memcpy(&word, static_cast<const char*>(parameters[i]) + at, sizeof word);
        line += " " + Hex(word);
      }
    }
    Write(line);
  }

 private:
  Kernels() {
    const char* const path = std::getenv("OPCAST_RECORD_KERNELS");
    std::ifstream file(path == nullptr ? "" : path);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string name;
      words >> name;
      for (size_t size = 0; words >> size;) sizes_[name].push_back(size);
    }
  }

  std::mutex mutex_;
  std::map<const void*, std::string> names_;
  std::map<std::string, std::vector<size_t>> sizes_;
};

constexpr Dim3 kAlone = {1, 1, 1};

// What `<<<>>>` leaves for the function that launches.
thread_local Config pushed = {};

constexpr int kInvalidDevice = 101;
// The attributes of a device by their numbers in CUDA, for those that kernels' authors ask for; of
// others, that it can do it.
int Ask(int attribute, int* value) {
  const Device d = TheDevice();
  const std::map<int, int> known = {
      {1, 1024},                   // threads of a block
      {8, 48 << 10},               // shared memory of a block, without asking
      {10, 32},                    // threads of a warp
      {16, d.multiprocessors},     // multiprocessors
      {39, 2048},                  // threads of a multiprocessor
      {75, d.arch / 10},           // compute capability
      {76, d.arch % 10},           //
      {81, d.shared + (1 << 10)},  // shared memory of a multiprocessor
      {97, d.shared},              // that of a block that asks for it
      {106, 32},                   // blocks of a multiprocessor
  };
  const auto found = known.find(attribute);
  *value = found == known.end() ? 1 : found->second;
  return 0;
}

}  // namespace
}  // namespace recorder

using recorder::Config;
using recorder::Dim3;
using recorder::Kernels;

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
char __cudaInitModule(void**) { return 0; }
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
  Kernels::All().Add(host, name);
}
int __cudaGetKernel(const void** kernel, const void* host) {
  *kernel = host;
  return 0;
}

unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared, void* stream) {
  recorder::pushed = {grid, block, shared, stream, nullptr, 0};
  return 0;
}
int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared, void* stream) {
  *grid = recorder::pushed.grid, *block = recorder::pushed.block;
  *shared = recorder::pushed.shared;
  std::memcpy(stream, &recorder::pushed.stream, sizeof(void*));
  return 0;
}

int cudaLaunchKernel(const void* host, Dim3 grid, Dim3 block, void** parameters, size_t shared,
                     void*) {
  Kernels::All().Launch(host, grid, block, recorder::kAlone, shared, parameters);
  return 0;
}
int __cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void** parameters, size_t shared,
                       void* stream) {
  return cudaLaunchKernel(kernel, grid, block, parameters, shared, stream);
}
int cudaLaunchCooperativeKernel(const void* host, Dim3 grid, Dim3 block, void** parameters,
                                size_t shared, void* stream) {
  return cudaLaunchKernel(host, grid, block, parameters, shared, stream);
}
int cudaLaunchKernelExC(const Config* config, const void* host, void** parameters) {
  constexpr int kCluster = 4;  // cudaLaunchAttributeClusterDimension
  Dim3 cluster = recorder::kAlone;
  for (unsigned i = 0; i < config->count; ++i) {
    const auto& a = config->attributes[i];
    if (a.id == kCluster) cluster = {a.value[0], a.value[1], a.value[2]};
  }
  Kernels::All().Launch(host, config->grid, config->block, cluster, config->shared, parameters);
  return 0;
}

int cudaFuncSetAttribute(const void*, int, int) { return 0; }
// What is asked here decides how much of the device a launch fills; the least that there can be.
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, size_t,
                                                           unsigned) {
  *blocks = 1;
  return 0;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, size_t) {
  *blocks = 1;
  return 0;
}
int cudaFuncGetAttributes(void* attributes, const void*) {
  std::memset(attributes, 0, 40);  // sizes, the most threads, registers, versions
  const int arch = recorder::TheDevice().arch, numbers[4] = {1024, 32, arch, arch};
  std::memcpy(static_cast<char*>(attributes) + 24, numbers, sizeof numbers);
  return 0;
}

int cudaGetDeviceCount(int* count) {
  *count = 1;
  return 0;
}
int cudaGetDevice(int* device) {
  *device = 0;
  return 0;
}
int cudaSetDevice(int device) { return device == 0 ? 0 : recorder::kInvalidDevice; }
int cudaDeviceGetAttribute(int* value, int attribute, int) {
  return recorder::Ask(attribute, value);
}
int cudaGetLastError() { return 0; }
int cudaPeekAtLastError() { return 0; }
const char* cudaGetErrorString(int) { return "error of the recorder"; }
const char* cudaGetErrorName(int) { return "cudaErrorUnknown"; }
int cudaDeviceSynchronize() { return 0; }
int cudaStreamSynchronize(void*) { return 0; }
int cudaStreamIsCapturing(void*, int* status) {
  *status = 0;
  return 0;
}

int cudaThreadExchangeStreamCaptureMode(int*) { return 0; }

int cudaMemsetAsync(void* memory, int, size_t bytes, void*) {
  recorder::Write("fill " + recorder::Hex(reinterpret_cast<uintptr_t>(memory)) + " " +
                  std::to_string(bytes));
  return 0;
}
int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void*) {
  constexpr int kDeviceToHost = 2;
  if (kind == kDeviceToHost) std::memset(to, 0, bytes);
  recorder::Write("copy " + recorder::Hex(reinterpret_cast<uintptr_t>(to)) + " " +
                  recorder::Hex(reinterpret_cast<uintptr_t>(from)) + " " + std::to_string(bytes));
  return 0;
}

}  // extern "C"
