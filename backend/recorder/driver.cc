// The driver of the device on which nothing runs. Its memory is an address and nothing behind it,
// so that arrays may be as large as a GPU's.
#include <atomic>
#include <cstdint>
#include <cstring>

#include "record.h"

#pragma GCC visibility push(default)
extern "C" {

int cuInit(unsigned) { return 0; }
int cuDeviceGet(int* device, int number) {
  *device = number;
  return number == 0 ? 0 : 101;  // CUDA_ERROR_INVALID_DEVICE
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}

int cuDevicePrimaryCtxRetain(void** context, int) {
  static char primary;
  *context = &primary;
  return 0;
}

namespace {
thread_local void* current = nullptr;
}

int cuCtxGetCurrent(void** context) {
  *context = current;
  return 0;
}
int cuCtxSetCurrent(void* context) {
  current = context;
  return 0;
}
int cuCtxGetDevice(int* device) {
  *device = 0;
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "error of the recorder";
  return 0;
}

int cuStreamCreate(void** stream, unsigned) {
  *stream = nullptr;
  return 0;
}
int cuStreamSynchronize(void*) { return 0; }

// Addresses begin where a process has nothing else and lie a page apart.
int cuMemAlloc_v2(uintptr_t* memory, size_t bytes) {
  constexpr uintptr_t kFirst = uintptr_t{1} << 52, kPage = uintptr_t{1} << 21;
  static std::atomic<uintptr_t> next{kFirst};
  *memory = next.fetch_add((bytes / kPage + 2) * kPage);
  recorder::Write("memory " + recorder::Hex(*memory) + " " + std::to_string(bytes));
  return 0;
}
int cuMemFree_v2(uintptr_t) { return 0; }
int cuMemcpyHtoD_v2(uintptr_t, const void*, size_t) { return 0; }
int cuMemcpyDtoH_v2(void* to, uintptr_t, size_t bytes) {
  std::memset(to, 0, bytes);
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
