// HIP's runtime on the emulated driver, whose library it is a part of.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "driver.h"
#include "hip_kernel.h"

namespace emulator {
namespace {

thread_local hipError_t last = hipSuccess;
thread_local int chosen = 0;  // in HIP a thread has a device, and no context

// Remembers the error of a function, and notes that it ends.
hipError_t Keep(hipError_t error, const char* function = __builtin_FUNCTION()) {
  const std::lock_guard<std::recursive_mutex> lock(TheState().mutex);
  if (error != hipSuccess) last = error;
  Note((error == hipSuccess ? "" : "! ") + std::string(function));
  return error;
}
hipError_t Keep(CUresult code, const char* function = __builtin_FUNCTION()) {
  return Keep(static_cast<hipError_t>(static_cast<int>(code)), function);
}

// What libraries have handed over.
std::map<const void*, const EmulatedKernel*>& Kernels() {
  static auto* const kernels = new std::map<const void*, const EmulatedKernel*>;
  return *kernels;
}

CUresult Exists(int device) {
  CUresult code = cuInit(0);
  int count = 0;
  if (code == CUDA_SUCCESS) code = cuDeviceGetCount(&count);
  return code == CUDA_SUCCESS && (device < 0 || device >= count) ? CUDA_ERROR_INVALID_DEVICE : code;
}

// Makes the primary context of the thread's device current, which lives as long as the process.
CUresult Context() {
  const std::lock_guard<std::recursive_mutex> lock(TheState().mutex);
  static std::map<int, CUcontext> contexts;
  CUresult code = Exists(chosen);
  CUcontext& context = contexts[chosen];
  if (code == CUDA_SUCCESS && context == nullptr) code = cuDevicePrimaryCtxRetain(&context, chosen);
  return code == CUDA_SUCCESS ? cuCtxSetCurrent(context) : code;
}

// Calls what acts on the device of the thread.
template <class F>
hipError_t There(F act, const char* function = __builtin_FUNCTION()) {
  const CUresult code = Context();
  return Keep(code == CUDA_SUCCESS ? act() : code, function);
}

CUdeviceptr Address(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

const Device& At(int device) { return TheState().devices[static_cast<size_t>(device)]; }

std::string ArchOf(const Device& device) {
  char text[16];
  std::snprintf(text, sizeof text, "gfx%x", static_cast<unsigned>(device.arch));
  return text;
}

void Copy(const std::string& text, char* to, size_t size) {
  std::snprintf(to, size, "%s", text.c_str());
}

// Blocks of shared memory need not be asked for.
constexpr size_t kMostShared = 64 << 10;
// From gfx10 on, whose names have four digits, 32 threads run together.
constexpr int kFirstNarrow = 0x1000;

hipError_t Launch(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                  hipStream_t stream, bool cooperative,
                  const char* function = __builtin_FUNCTION()) {
  const std::lock_guard<std::recursive_mutex> lock(TheState().mutex);
  const auto found = Kernels().find(kernel);
  if (found == Kernels().end()) return Keep(hipErrorInvalidDeviceFunction, function);
  EmulatedLaunch launch = {};
  const auto fill = [](unsigned (&to)[3], dim3 n) { to[0] = n.x, to[1] = n.y, to[2] = n.z; };
  fill(launch.grid, grid);
  fill(launch.block, block);
  fill(launch.cluster, dim3());
  launch.shared = shared;
  launch.most_shared = kMostShared;
  launch.cooperative = cooperative;
  const auto start = [&] {
    std::vector<const void*> pointers;
    found->second->fill(arguments, &launch, &pointers);
    launch.pointers = pointers.data();
    launch.pointer_count = static_cast<int>(pointers.size());
    return cuEmulatorLaunch(&launch, stream);
  };
  return There(start, function);
}

// Clang finds textures and the like in units for HIP. Those for the emulator have kernels only.
[[noreturn]] void Unknown(const char* what) {
  std::fprintf(stderr, "emulated device: a unit of a library has a %s\n", what);
  std::abort();
}

}  // namespace
}  // namespace emulator

using emulator::Address;
using emulator::Keep;
using emulator::There;

#pragma GCC visibility push(default)
extern "C" {

void __hipRegisterVar(void**, void*, char*, char*, int, size_t, int, int) {
  emulator::Unknown("variable");
}
void __hipRegisterManagedVar(void**, void**, void*, const char*, size_t, unsigned) {
  emulator::Unknown("managed variable");
}
void __hipRegisterTexture(void**, void*, char*, char*, int, int, int) {
  emulator::Unknown("texture");
}
void __hipRegisterSurface(void**, void*, char*, char*, int, int) { emulator::Unknown("surface"); }

}  // extern "C"
#pragma GCC visibility pop

// The code itself is what stands for a unit.
void** __hipRegisterFatBinary(const void* code) {
  return static_cast<void**>(const_cast<void*>(code));
}

void __hipRegisterFunction(void** unit, const void* function, char*, const char*, unsigned, void*,
                           void*, void*, void*, int*) {
  const std::lock_guard<std::recursive_mutex> lock(emulator::TheState().mutex);
  emulator::Kernels()[function] = static_cast<const EmulatedKernel*>(static_cast<void*>(unit));
}

hipError_t hipInit(unsigned flags) { return Keep(cuInit(flags)); }

hipError_t hipGetDeviceCount(int* count) {
  const CUresult code = cuInit(0);
  return Keep(code == CUDA_SUCCESS ? cuDeviceGetCount(count) : code);
}

hipError_t hipGetDevice(int* device) {
  *device = emulator::chosen;
  return Keep(cuInit(0));
}

hipError_t hipSetDevice(int device) {
  const CUresult code = emulator::Exists(device);
  if (code == CUDA_SUCCESS) emulator::chosen = device;
  return Keep(code);
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  const CUresult code = emulator::Exists(device);
  if (code != CUDA_SUCCESS) return Keep(code);
  const emulator::Device& found = emulator::At(device);
  const std::string arch = emulator::ArchOf(found);
  const bool wide = found.arch < emulator::kFirstNarrow;
  *properties = {};
  emulator::Copy("emulated " + arch, properties->name, sizeof properties->name);
  emulator::Copy(arch + (wide ? ":sramecc+:xnack-" : ""), properties->gcnArchName,
                 sizeof properties->gcnArchName);
  properties->warpSize = wide ? 64 : 32;
  properties->multiProcessorCount = found.sm_count;
  properties->sharedMemPerBlock = emulator::kMostShared;
  return Keep(hipSuccess);
}

hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  const CUresult code = emulator::Exists(device);
  if (code == CUDA_SUCCESS)
    emulator::Copy("emulated " + emulator::ArchOf(emulator::At(device)), name,
                   static_cast<size_t>(length));
  return Keep(code);
}

hipError_t hipDeviceSynchronize() { return There(cuCtxSynchronize); }

hipError_t hipGetLastError() {
  const hipError_t error = emulator::last;
  emulator::last = hipSuccess;
  return error;
}

const char* hipGetErrorString(hipError_t error) {
  if (error == hipErrorNoDevice) return "no ROCm-capable device is detected";
  if (error == hipErrorInvalidDeviceFunction) return "invalid device function";
  const char* text = nullptr;
  cuGetErrorString(static_cast<CUresult>(static_cast<int>(error)), &text);
  return text;
}

hipError_t hipMalloc(void** memory, size_t bytes) {
  CUdeviceptr address = 0;
  const hipError_t error = There([&] { return cuMemAlloc_v2(&address, bytes); });
  *memory = reinterpret_cast<void*>(address);
  return error;
}

hipError_t hipFree(void* memory) {
  return There([&] { return cuMemFree_v2(Address(memory)); });
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, size_t bytes) {
  return There([&] { return cuMemcpyHtoD_v2(Address(to), from, bytes); });
}

hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t bytes) {
  return There([&] { return cuMemcpyDtoH_v2(to, Address(from), bytes); });
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes,
                              hipStream_t stream) {
  return There([&] { return cuMemcpyDtoDAsync_v2(Address(to), Address(from), bytes, stream); });
}

hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind,
                          hipStream_t stream) {
  return There([&] { return cuMemcpyDtoHAsync_v2(to, Address(from), bytes, stream); });
}

hipError_t hipMemsetAsync(void* memory, int value, size_t bytes, hipStream_t stream) {
  const auto byte = static_cast<unsigned char>(value);
  return There([&] { return cuMemsetD8Async(Address(memory), byte, bytes, stream); });
}

hipError_t hipMemsetD8Async(hipDeviceptr_t memory, unsigned char value, size_t bytes,
                            hipStream_t stream) {
  return There([&] { return cuMemsetD8Async(Address(memory), value, bytes, stream); });
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return There([&] { return cuStreamCreate(stream, flags); });
}

hipError_t hipStreamDestroy(hipStream_t stream) { return Keep(cuStreamDestroy_v2(stream)); }

hipError_t hipStreamSynchronize(hipStream_t stream) {
  return There([&] { return cuStreamSynchronize(stream); });
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return There(
      [&] { return cuStreamBeginCapture_v2(stream, static_cast<CUstreamCaptureMode>(mode)); });
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return There([&] { return cuStreamEndCapture(stream, graph); });
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
  const hipError_t error = There([&] { return cuStreamIsCapturing(stream, &found); });
  *status = static_cast<hipStreamCaptureStatus>(static_cast<int>(found));
  return error;
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* ready, hipGraph_t graph,
                                        unsigned long long flags) {
  return There([&] { return cuGraphInstantiateWithFlags(ready, graph, flags); });
}

hipError_t hipGraphLaunch(hipGraphExec_t ready, hipStream_t stream) {
  return There([&] { return cuGraphLaunch(ready, stream); });
}

hipError_t hipGraphDestroy(hipGraph_t graph) { return Keep(cuGraphDestroy(graph)); }

hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                           size_t shared, hipStream_t stream) {
  return emulator::Launch(kernel, grid, block, arguments, shared, stream, false);
}

hipError_t hipLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                      unsigned shared, hipStream_t stream) {
  return emulator::Launch(kernel, grid, block, arguments, shared, stream, true);
}
