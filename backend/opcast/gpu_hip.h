// HIP's runtime, as the runtime of a library finds it.
#pragma once

#include <hip/hip_runtime_api.h>

#include <string>

namespace opcast::gpu {

using RegisterUnit = void** (*)(const void* code);
using RegisterKernel = void (*)(void** unit, const void* function, char* device_function,
                                const char* device_name, unsigned threads, void*, void*, void*,
                                void*, int*);
using RegisterVariable = void (*)(void** unit, void* variable, char* name, char* device_name,
                                  int external, size_t size, int constant, int global);

using RegisterManaged = void (*)(void** unit, void** variable, void* begin, const char* name,
                                 size_t size, unsigned alignment);
using RegisterTexture = void (*)(void** unit, void* variable, char* name, char* device_name,
                                 int type, int normal, int external);
using RegisterSurface = void (*)(void** unit, void* variable, char* name, char* device_name,
                                 int type, int external);

using LaunchCooperative = hipError_t (*)(const void* kernel, dim3 grid, dim3 block,
                                         void** arguments, unsigned shared, hipStream_t stream);

// The functions of HIP that are used here.
struct Runtime {
  RegisterUnit register_unit;
  RegisterKernel register_kernel;
  RegisterVariable register_variable;
  RegisterManaged register_managed;
  RegisterTexture register_texture;
  RegisterSurface register_surface;
  decltype(&hipGetDeviceCount) get_device_count;
  decltype(&hipGetDeviceProperties) get_device_properties;
  decltype(&hipGetDevice) get_device;
  decltype(&hipSetDevice) set_device;
  decltype(&hipMemsetAsync) memset_async;
  decltype(&hipMemcpyAsync) memcpy_async;
  decltype(&hipStreamSynchronize) stream_synchronize;
  decltype(&hipStreamIsCapturing) stream_is_capturing;
  decltype(&hipLaunchKernel) launch_kernel;
  LaunchCooperative launch_cooperative;
  decltype(&hipGetLastError) get_last_error;
  decltype(&hipGetErrorString) get_error_string;
};

// The runtime, which knows all kernels of this library; or null and why there is none.
const Runtime* UseRuntime(std::string* why);

}  // namespace opcast::gpu
