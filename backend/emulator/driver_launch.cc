// Launches of kernels: what a driver refuses before they run, and what it notices afterwards.
#include <memory>
#include <string>

#include "driver.h"

using emulator::current;

namespace emulator {
namespace {

uint64_t Count(const unsigned (&dims)[3]) { return uint64_t{dims[0]} * dims[1] * dims[2]; }

// Architectures from Hopper on have clusters, and launches that overlap.
constexpr int kHopper = 90;

// Blocks of a cooperative launch are all there at once.
constexpr uint64_t kBlocksPerMultiprocessor = 16;

CUresult CheckSizes(const EmulatedLaunch& l, const Device& device) {
  constexpr unsigned kMostThreads = 1024, kMostDim = 65535, kMostCluster = 8;
  constexpr size_t kUnasked = 48 << 10;
  const bool clusters = Count(l.cluster) > 1;
  if (Count(l.grid) == 0 || Count(l.block) == 0 || Count(l.block) > kMostThreads ||
      l.grid[0] > 0x7fffffff || l.grid[1] > kMostDim || l.grid[2] > kMostDim || l.block[2] > 64 ||
      l.shared > (l.most_shared > kUnasked ? l.most_shared : kUnasked))
    return CUDA_ERROR_INVALID_VALUE;
  if ((clusters || l.overlaps) && device.arch < kHopper) return CUDA_ERROR_INVALID_VALUE;
  for (int i = 0; clusters && i < 3; ++i)
    if (l.cluster[i] == 0 || l.grid[i] % l.cluster[i] != 0) return CUDA_ERROR_INVALID_VALUE;
  if (Count(l.cluster) > kMostCluster) return CUDA_ERROR_INVALID_VALUE;
  if (l.cooperative &&
      Count(l.grid) > kBlocksPerMultiprocessor * static_cast<uint64_t>(device.sm_count))
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  return CUDA_SUCCESS;
}

// Whether a kernel on the device may be given the address. Structures may have others in them,
// which pages without access guard.
bool MayReach(const void* pointer, int device) {
  if (pointer == nullptr) return true;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const Memory* m = Find(address, 0);
  return m != nullptr && (m->managed || m->context->device == device);
}

EmulatedTask TaskOf(const EmulatedLaunch& l, int device) {
  const std::vector<const void*> pointers(l.pointers, l.pointers + l.pointer_count);
  const std::shared_ptr<void> closure(l.closure, l.destroy);
  return {"kernel", [=, run = l.run]() -> CUresult {
            for (const void* p : pointers)
              if (!MayReach(p, device)) return CUDA_ERROR_ILLEGAL_ADDRESS;
            run(closure.get());
            for (const void* p : pointers)
              if (p != nullptr) CheckAround(*Find(reinterpret_cast<uintptr_t>(p), 0));
            return CUDA_SUCCESS;
          }};
}

}  // namespace
}  // namespace emulator

CUresult cuEmulatorLaunch(const EmulatedLaunch* launch, CUstream stream) {
  const emulator::Entry entry(__func__, true);
  if (entry.code() != CUDA_SUCCESS) {
    launch->destroy(launch->closure);
    return entry.code();
  }
  const EmulatedTask task = emulator::TaskOf(*launch, current->device);
  const auto& device = emulator::TheState().devices[static_cast<size_t>(current->device)];
  const CUresult wrong = emulator::CheckSizes(*launch, device);
  return entry.Return(wrong != CUDA_SUCCESS ? wrong : emulator::Enqueue(stream, task));
}
