// A libamdhip64 for tests, which notes calls. It has two devices, and runs no kernel.
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

// Calls so far, one word each.
std::string calls;
int current = 1;

void Note(const std::string& call) { calls += call + ";"; }
hipError_t Done(const std::string& call) {
  Note(call);
  return hipSuccess;
}

}  // namespace

extern "C" {

// What was called since the last look.
const char* fake_hip_calls() {
  static std::string told;
  told = calls;
  calls.clear();
  return told.c_str();
}

void** __hipRegisterFatBinary(const void* code) {
  Note(std::string("unit ") + static_cast<const char*>(code));
  static void* unit;
  return &unit;
}
void __hipRegisterFunction(void** unit, const void*, char* name, const char*, unsigned, void*,
                           void*, void*, void*, int*) {
  Note(std::string("kernel ") + (unit != nullptr ? name : "of no unit"));
}
void __hipRegisterVar(void**, void*, char* name, char*, int, size_t, int, int) {
  Note(std::string("variable ") + name);
}
void __hipRegisterManagedVar(void**, void**, void*, const char* name, size_t, unsigned) {
  Note(std::string("managed ") + name);
}
void __hipRegisterTexture(void**, void*, char* name, char*, int, int, int) {
  Note(std::string("texture ") + name);
}
void __hipRegisterSurface(void**, void*, char* name, char*, int, int) {
  Note(std::string("surface ") + name);
}
hipError_t hipGetDeviceCount(int* count) {
  *count = 2;
  return hipSuccess;
}
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  std::memset(properties, 0, sizeof *properties);
  std::strcpy(properties->gcnArchName, device == 0 ? "gfx942:sramecc+:xnack-" : "gfx90a");
  properties->multiProcessorCount = 304;
  return Done("properties " + std::to_string(device));
}
hipError_t hipGetDevice(int* device) {
  *device = current;
  return hipSuccess;
}
hipError_t hipSetDevice(int device) {
  current = device;
  return Done("set " + std::to_string(device));
}
hipError_t hipMemsetAsync(void* data, int value, size_t bytes, hipStream_t) {
  std::memset(data, value, bytes);
  return Done("memset");
}
hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind, hipStream_t) {
  std::memcpy(to, from, bytes);
  return Done("memcpy");
}
hipError_t hipStreamSynchronize(hipStream_t) { return Done("synchronize"); }
hipError_t hipLaunchKernel(const void*, dim3 grid, dim3 block, void** arguments, size_t shared,
                           hipStream_t) {
  Note("launch " + std::to_string(grid.x) + " " + std::to_string(block.x) + " " +
       std::to_string(shared) + " " + std::to_string(**reinterpret_cast<int**>(arguments)));
  return block.x > 1024 ? hipErrorInvalidConfiguration : hipSuccess;
}
hipError_t hipLaunchCooperativeKernel(const void*, dim3, dim3, void**, unsigned, hipStream_t) {
  return Done("cooperative");
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* state) {
  *state = stream == nullptr ? hipStreamCaptureStatusNone : hipStreamCaptureStatusActive;
  return hipSuccess;
}
hipError_t hipGetLastError() { return Done("last error"); }
const char* hipGetErrorString(hipError_t error) {
  return error == hipErrorInvalidConfiguration ? "too many threads" : "no such device";
}

}  // extern "C"
