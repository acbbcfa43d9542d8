// Finds HIP's runtime, and is it to compiled kernels until then.
//
// libamdhip64 is opened when a device is first asked for. So the library loads on machines without
// it, works with several versions, and takes the one that the process has already: the streams and
// the memory of a call are made by the runtime of the caller's framework. Units with kernels hand
// these over when the library is loaded; here they wait until there is a runtime.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "opcast/gpu_hip.h"

namespace opcast::gpu {
namespace {

// What stands in the brackets of a call of a kernel.
struct Brackets {
  dim3 grid, block;
  size_t shared;
  hipStream_t stream;
};
thread_local Brackets brackets;

// A compiled unit: its code, and what is to be done when the runtime has taken that.
struct Unit {
  const void* code;
  std::vector<std::function<void(const Runtime&, void** taken)>> contents;
};

// Constructors of other units use it, in any order.
std::vector<Unit*>& Units() {
  static auto* const units = new std::vector<Unit*>;
  return *units;
}

// The path of a libamdhip64 that the process has loaded, or "".
std::string LoadedRuntime() {
  std::string found;
  const auto look = [](dl_phdr_info* object, size_t, void* to) {
    const char* const slash = std::strrchr(object->dlpi_name, '/');
    const char* const name = slash == nullptr ? object->dlpi_name : slash + 1;
    if (std::strncmp(name, "libamdhip64.so", 14) != 0) return 0;
    *static_cast<std::string*>(to) = object->dlpi_name;
    return 1;
  };
  dl_iterate_phdr(look, &found);
  return found;
}

void* OpenRuntime(std::string* why) {
  std::vector<std::string> names = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                    "libamdhip64.so"};
  const std::string loaded = LoadedRuntime();
  if (!loaded.empty()) names = {loaded};
  for (const std::string& name : names) {
    if (void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    *why = dlerror();
  }
  return nullptr;
}

// Finds the functions. The macro of a function expands first: headers of one version mean another
// name by it where its structs have changed.
#define OPCAST_TEXT(name) #name
#define OPCAST_NAME(function) OPCAST_TEXT(function)
#define OPCAST_FIND(member, function) Find(library, OPCAST_NAME(function), &made.member, &lacking)

template <class F>
void Find(void* library, const char* name, F* function, std::string* lacking) {
  *function = reinterpret_cast<F>(dlsym(library, name));
  if (*function == nullptr) *lacking = name;
}

// All functions, or null and why there are none.
const Runtime* LoadRuntime(std::string* why) {
  void* const library = OpenRuntime(why);
  if (library == nullptr) return nullptr;
  static Runtime made;
  std::string lacking;
  OPCAST_FIND(register_unit, __hipRegisterFatBinary);
  OPCAST_FIND(register_kernel, __hipRegisterFunction);
  OPCAST_FIND(register_variable, __hipRegisterVar);
  OPCAST_FIND(register_managed, __hipRegisterManagedVar);
  OPCAST_FIND(register_texture, __hipRegisterTexture);
  OPCAST_FIND(register_surface, __hipRegisterSurface);
  OPCAST_FIND(get_device_count, hipGetDeviceCount);
  OPCAST_FIND(get_device_properties, hipGetDeviceProperties);
  OPCAST_FIND(get_device, hipGetDevice);
  OPCAST_FIND(set_device, hipSetDevice);
  OPCAST_FIND(memset_async, hipMemsetAsync);
  OPCAST_FIND(memcpy_async, hipMemcpyAsync);
  OPCAST_FIND(stream_synchronize, hipStreamSynchronize);
  OPCAST_FIND(stream_is_capturing, hipStreamIsCapturing);
  OPCAST_FIND(launch_kernel, hipLaunchKernel);
  OPCAST_FIND(launch_cooperative, hipLaunchCooperativeKernel);
  OPCAST_FIND(get_last_error, hipGetLastError);
  OPCAST_FIND(get_error_string, hipGetErrorString);
  if (!lacking.empty()) *why = LoadedRuntime() + " has no function " + lacking;
  return lacking.empty() ? &made : nullptr;
}

}  // namespace

// It is not given back: when the process ends, it may be gone before this library.
const Runtime* UseRuntime(std::string* why) {
  static std::mutex mutex;
  static std::atomic<const Runtime*> known{nullptr};
  const Runtime* runtime = known.load(std::memory_order_acquire);
  if (runtime != nullptr) return runtime;
  const std::lock_guard<std::mutex> lock(mutex);
  runtime = known.load(std::memory_order_relaxed);
  if (runtime != nullptr || (runtime = LoadRuntime(why)) == nullptr) return runtime;
  for (Unit* const unit : Units()) {
    void** const taken = runtime->register_unit(unit->code);
    for (const auto& hand_over : unit->contents) hand_over(*runtime, taken);
  }
  known.store(runtime, std::memory_order_release);
  return runtime;
}

}  // namespace opcast::gpu

// What units call that clang has compiled for HIP. The linker binds their calls to these functions,
// which the library does not export.
extern "C" {

void** __hipRegisterFatBinary(const void* code) {
  auto& units = opcast::gpu::Units();
  units.push_back(new opcast::gpu::Unit{code, {}});
  return reinterpret_cast<void**>(units.back());
}

void __hipRegisterFunction(void** unit, const void* function, char* device_function,
                           const char* device_name, unsigned threads, void* thread, void* block,
                           void* block_size, void* grid_size, int* wave) {
  reinterpret_cast<opcast::gpu::Unit*>(unit)->contents.push_back(
      [=](const opcast::gpu::Runtime& runtime, void** taken) {
        runtime.register_kernel(taken, function, device_function, device_name, threads, thread,
                                block, block_size, grid_size, wave);
      });
}

void __hipRegisterVar(void** unit, void* variable, char* name, char* device_name, int external,
                      size_t size, int constant, int global) {
  reinterpret_cast<opcast::gpu::Unit*>(unit)->contents.push_back(
      [=](const opcast::gpu::Runtime& runtime, void** taken) {
        runtime.register_variable(taken, variable, name, device_name, external, size, constant,
                                  global);
      });
}

void __hipRegisterManagedVar(void** unit, void** variable, void* begin, const char* name,
                             size_t size, unsigned alignment) {
  reinterpret_cast<opcast::gpu::Unit*>(unit)->contents.push_back(
      [=](const opcast::gpu::Runtime& runtime, void** taken) {
        runtime.register_managed(taken, variable, begin, name, size, alignment);
      });
}

void __hipRegisterTexture(void** unit, void* variable, char* name, char* device_name, int type,
                          int normal, int external) {
  reinterpret_cast<opcast::gpu::Unit*>(unit)->contents.push_back(
      [=](const opcast::gpu::Runtime& runtime, void** taken) {
        runtime.register_texture(taken, variable, name, device_name, type, normal, external);
      });
}

void __hipRegisterSurface(void** unit, void* variable, char* name, char* device_name, int type,
                          int external) {
  reinterpret_cast<opcast::gpu::Unit*>(unit)->contents.push_back(
      [=](const opcast::gpu::Runtime& runtime, void** taken) {
        runtime.register_surface(taken, variable, name, device_name, type, external);
      });
}

void __hipUnregisterFatBinary(void**) {}

// kernel<<<grid, block, shared, stream>>>(...) pushes what is in the brackets, and then calls a
// function on the host that pops it and launches the kernel.
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared, hipStream_t stream) {
  opcast::gpu::brackets = {grid, block, shared, stream};
  return hipSuccess;
}
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, hipStream_t* stream) {
  const opcast::gpu::Brackets& last = opcast::gpu::brackets;
  *grid = last.grid, *block = last.block, *shared = last.shared, *stream = last.stream;
  return hipSuccess;
}
hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                           size_t shared, hipStream_t stream) {
  std::string why;
  const opcast::gpu::Runtime* const runtime = opcast::gpu::UseRuntime(&why);
  if (runtime == nullptr) return hipErrorNotInitialized;
  return runtime->launch_kernel(kernel, grid, block, arguments, shared, stream);
}

// Who uses these brackets asks for errors with these functions.
hipError_t hipGetLastError() {
  std::string why;
  const opcast::gpu::Runtime* const runtime = opcast::gpu::UseRuntime(&why);
  return runtime == nullptr ? hipErrorNotInitialized : runtime->get_last_error();
}
const char* hipGetErrorString(hipError_t error) {
  std::string why;
  const opcast::gpu::Runtime* const runtime = opcast::gpu::UseRuntime(&why);
  return runtime == nullptr ? "no HIP runtime for AMD's devices" : runtime->get_error_string(error);
}

}  // extern "C"
