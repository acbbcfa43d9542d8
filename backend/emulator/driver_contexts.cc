// Devices and contexts.
#include <algorithm>
#include <cstdio>

#include "driver.h"

using emulator::current;
using emulator::TheState;

namespace emulator {

void DropContext(CUcontext context) {
  State& s = TheState();
  if (!context->alive) return;
  RunAll(context, false);
  context->alive = false;
  for (auto it = s.memory.begin(); it != s.memory.end();) {
    const bool its = it->second.context == context;
    if (its) Unmap(it->second);
    it = its ? s.memory.erase(it) : std::next(it);
  }
  const auto drop = [&](auto* handles) {
    for (auto it = handles->begin(); it != handles->end();) {
      const bool its = (*it)->context == context;
      if (its) delete *it;
      it = its ? handles->erase(it) : std::next(it);
    }
  };
  drop(&s.streams);
  drop(&s.events);
  drop(&s.graphs);
}

namespace {

bool Exists(CUdevice device) {
  return device >= 0 && device < static_cast<int>(TheState().devices.size());
}

CUcontext NewContext(CUdevice device) {
  TheState().contexts.push_back(std::make_unique<CUctx_st>(CUctx_st{device}));
  return TheState().contexts.back().get();
}

// The most shared memory that a block may have, which is for a kernel that asks for it.
int MostShared(int arch) {
  constexpr int kKiB = 1024;
  if (arch >= 90 && arch < 120) return 227 * kKiB;
  if (arch == 80 || arch == 87) return 163 * kKiB;
  return arch >= 86 ? 99 * kKiB : 64 * kKiB;
}

}  // namespace
}  // namespace emulator

CUresult cuDeviceGetCount(int* count) {
  ENTER();
  *count = static_cast<int>(TheState().devices.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  ENTER();
  if (!emulator::Exists(ordinal)) return entry.Return(CUDA_ERROR_INVALID_DEVICE);
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  ENTER();
  if (!emulator::Exists(device)) return entry.Return(CUDA_ERROR_INVALID_DEVICE);
  std::snprintf(name, static_cast<size_t>(length), "emulated sm_%d",
                TheState().devices[static_cast<size_t>(device)].arch);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  ENTER();
  if (!emulator::Exists(device)) return entry.Return(CUDA_ERROR_INVALID_DEVICE);
  const emulator::Device& d = TheState().devices[static_cast<size_t>(device)];
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = d.sm_count;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = d.arch / 10;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = d.arch % 10;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      *value = emulator::MostShared(d.arch);
      return CUDA_SUCCESS;
  }
  return entry.Return(CUDA_ERROR_INVALID_VALUE);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  ENTER();
  if (!emulator::Exists(device)) return entry.Return(CUDA_ERROR_INVALID_DEVICE);
  emulator::Device& d = TheState().devices[static_cast<size_t>(device)];
  if (d.retained++ == 0) {
    // A context that was released comes back as the same handle.
    if (d.primary == nullptr) d.primary = emulator::NewContext(device);
    *d.primary = CUctx_st{device};
  }
  *context = d.primary;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  ENTER();
  if (!emulator::Exists(device)) return entry.Return(CUDA_ERROR_INVALID_DEVICE);
  emulator::Device& d = TheState().devices[static_cast<size_t>(device)];
  if (d.retained == 0) return entry.Return(CUDA_ERROR_INVALID_CONTEXT);
  if (--d.retained == 0) emulator::DropContext(d.primary);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  ENTER();
  if (!emulator::Exists(device)) return entry.Return(CUDA_ERROR_INVALID_DEVICE);
  *flags = 0;
  *active = TheState().devices[static_cast<size_t>(device)].retained > 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice device) {
  ENTER();
  if (!emulator::Exists(device)) return entry.Return(CUDA_ERROR_INVALID_DEVICE);
  *context = current = emulator::NewContext(device);
  return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  ENTER();
  if (context == nullptr || !context->alive) return entry.Return(CUDA_ERROR_INVALID_CONTEXT);
  emulator::DropContext(context);
  if (current == context) current = nullptr;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  ENTER();
  *context = current;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  ENTER();
  if (context != nullptr && !context->alive) return entry.Return(CUDA_ERROR_CONTEXT_IS_DESTROYED);
  current = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  ENTER_IN_CONTEXT();
  *device = current->device;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  ENTER_IN_CONTEXT();
  return entry.Return(emulator::Synchronize(current, false));
}
