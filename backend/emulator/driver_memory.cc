// Memory of devices and copies.
//
// Pages that belong to a device are accessible while a piece of its work runs, so that a kernel
// which reads memory of the host's side of an argument, or of another device, crashes as soon as it
// does, and so does a host that reads a device's.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "driver.h"

using emulator::current;
using emulator::TheState;

namespace emulator {
namespace {

constexpr size_t kPage = 4096, kAlignment = 256;  // of allocations, as CUDA's
constexpr char kFresh = '\xff';                   // what new memory holds: NaN in floats
constexpr char kCanary = '\xfe';
constexpr size_t kMostBytes = size_t{1} << 36;  // larger pieces are refused

void Protect(const Memory& m, int access) {
  if (mprotect(m.pages + kPage, m.page_bytes, access) != 0) std::abort();
}

// Calls f for the bytes of the pages that are not part of the memory, as far as they are near.
template <class F>
void Around(const Memory& m, F f) {
  char* const first = m.pages + kPage;
  char* const begin = reinterpret_cast<char*>(m.begin);
  char* const near =
      begin - first > static_cast<ptrdiff_t>(kAlignment) ? begin - kAlignment : first;
  f(near, begin);
  f(begin + m.bytes, first + m.page_bytes);
}

CUresult Allocate(CUdeviceptr* memory, size_t bytes, bool managed) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > kMostBytes) return CUDA_ERROR_OUT_OF_MEMORY;
  Memory m{current, managed, nullptr, (bytes + kPage - 1) / kPage * kPage, 0, bytes};
  void* const pages = mmap(nullptr, m.page_bytes + 2 * kPage, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  m.pages = static_cast<char*>(pages);
  const size_t aligned = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  m.begin = reinterpret_cast<uintptr_t>(m.pages) + kPage + m.page_bytes - aligned;
  Protect(m, PROT_READ | PROT_WRITE);
  std::memset(reinterpret_cast<void*>(m.begin), kFresh, bytes);
  Around(m,
         [](char* from, char* to) { std::memset(from, kCanary, static_cast<size_t>(to - from)); });
  if (!managed) Protect(m, PROT_NONE);
  TheState().memory[m.begin] = m;
  *memory = m.begin;
  return CUDA_SUCCESS;
}

bool Reaches(CUdeviceptr memory, size_t bytes, CUcontext context) {
  const Memory* const m = Find(memory, bytes);
  return m != nullptr && (m->managed || m->context->device == context->device);
}

}  // namespace

Memory* Find(uintptr_t address, size_t bytes) {
  auto& all = TheState().memory;
  auto after = all.upper_bound(address);
  if (after == all.begin()) return nullptr;
  Memory& m = std::prev(after)->second;
  return m.Holds(address, bytes) ? &m : nullptr;
}

void Unmap(const Memory& m) { munmap(m.pages, m.page_bytes + 2 * kPage); }

void CheckAround(const Memory& m) {
  Around(m, [&](const char* from, const char* to) {
    for (const char* at = from; at < to; ++at) {
      if (*at == kCanary) continue;
      std::fprintf(stderr, "emulated device: a kernel wrote byte %lld of memory of %zu bytes\n",
                   static_cast<long long>(at - reinterpret_cast<char*>(m.begin)), m.bytes);
      std::abort();
    }
  });
}

Opened::Opened(CUcontext context) : device_(context->device) {
  for (const auto& [begin, m] : TheState().memory)
    if (!m.managed && m.context->device == device_) Protect(m, PROT_READ | PROT_WRITE);
}

Opened::~Opened() {
  for (const auto& [begin, m] : TheState().memory)
    if (!m.managed && m.context->device == device_) Protect(m, PROT_NONE);
}

}  // namespace emulator

CUresult cuMemAlloc_v2(CUdeviceptr* memory, size_t bytes) {
  ENTER_IN_CONTEXT();
  const CUresult unsafe = emulator::UnsafeNow();
  return entry.Return(unsafe != CUDA_SUCCESS ? unsafe : emulator::Allocate(memory, bytes, false));
}

CUresult cuMemAllocManaged(CUdeviceptr* memory, size_t bytes, unsigned) {
  ENTER_IN_CONTEXT();
  const CUresult unsafe = emulator::UnsafeNow();
  return entry.Return(unsafe != CUDA_SUCCESS ? unsafe : emulator::Allocate(memory, bytes, true));
}

CUresult cuMemFree_v2(CUdeviceptr memory) {
  ENTER_IN_CONTEXT();
  if (memory == 0) return CUDA_SUCCESS;
  const auto found = TheState().memory.find(memory);
  if (found == TheState().memory.end()) return entry.Return(CUDA_ERROR_INVALID_VALUE);
  const CUresult unsafe = emulator::UnsafeNow();
  if (unsafe != CUDA_SUCCESS) return entry.Return(unsafe);
  const CUresult code = emulator::RunAll(found->second.context, false);
  emulator::Unmap(found->second);
  TheState().memory.erase(found);
  return entry.Return(code);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  ENTER_IN_CONTEXT();
  const CUresult code = emulator::Synchronize(current, true);
  if (code != CUDA_SUCCESS || bytes == 0) return entry.Return(code);
  if (!emulator::Reaches(to, bytes, current)) return entry.Return(CUDA_ERROR_INVALID_VALUE);
  const emulator::Opened opened(current);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  ENTER_IN_CONTEXT();
  const CUresult code = emulator::Synchronize(current, true);
  if (code != CUDA_SUCCESS || bytes == 0) return entry.Return(code);
  if (!emulator::Reaches(from, bytes, current)) return entry.Return(CUDA_ERROR_INVALID_VALUE);
  const emulator::Opened opened(current);
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ENTER_IN_CONTEXT();
  if (bytes == 0) return CUDA_SUCCESS;
  if (!emulator::Reaches(from, bytes, current)) return entry.Return(CUDA_ERROR_INVALID_VALUE);
  const auto copy = [=] {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return CUDA_SUCCESS;
  };
  return entry.Return(emulator::Enqueue(stream, {"copy", copy}));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ENTER_IN_CONTEXT();
  if (bytes == 0) return CUDA_SUCCESS;
  if (!emulator::Reaches(from, bytes, current) || !emulator::Reaches(to, bytes, current))
    return entry.Return(CUDA_ERROR_INVALID_VALUE);
  const auto copy = [=] {
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    return CUDA_SUCCESS;
  };
  return entry.Return(emulator::Enqueue(stream, {"copy", copy}));
}

CUresult cuMemsetD8Async(CUdeviceptr memory, unsigned char value, size_t bytes, CUstream stream) {
  ENTER_IN_CONTEXT();
  if (bytes == 0) return CUDA_SUCCESS;
  if (!emulator::Reaches(memory, bytes, current)) return entry.Return(CUDA_ERROR_INVALID_VALUE);
  const auto fill = [=] {
    std::memset(reinterpret_cast<void*>(memory), value, bytes);
    return CUDA_SUCCESS;
  };
  return entry.Return(emulator::Enqueue(stream, {"fill", fill}));
}
