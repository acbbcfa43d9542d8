// What tests of gpu.h and of launches on an emulated device share. Each test runs in a process of
// its own, since what the runtime remembers of devices lasts as long as one.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "control.h"
#include "opcast/device.h"
#include "opcast/gpu.h"

namespace emulated {

inline int checks = 0, failures = 0;

inline void Check(bool ok, int line, const std::string& detail) {
  ++checks;
  if (ok) return;
  ++failures;
  std::printf("line %d: failed: %s\n", line, detail.c_str());
}
#define CHECK(ok, detail) ::emulated::Check(ok, __LINE__, detail)
// Of the driver and of HIP, whose codes are other enumerations; 0 is no error in both.
#define DO(call) ::emulated::Check(static_cast<int>(call) == 0, __LINE__, #call)

static __global__ void __launch_bounds__(32) AddKernel(float* y, const float* x, float value) {
  y[threadIdx.x] = x[threadIdx.x] + value;
}

constexpr int kCount = 32;
constexpr size_t kBytes = kCount * sizeof(float);
using Floats = std::vector<float>;

inline float* Allocate(bool managed = false) {
  CUdeviceptr memory = 0;
  DO(managed ? cuMemAllocManaged(&memory, kBytes, 1) : cuMemAlloc_v2(&memory, kBytes));
  return reinterpret_cast<float*>(memory);
}

inline CUdeviceptr At(const float* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

inline void Write(float* to, float value) {
  const Floats values(kCount, value);
  DO(cuMemcpyHtoD_v2(At(to), values.data(), kBytes));
}

inline Floats Contents(const float* from) {
  Floats values(kCount);
  DO(cuMemcpyDtoH_v2(values.data(), At(from), kBytes));
  return values;
}

inline bool Holds(const float* memory, float value) {
  return Contents(memory) == Floats(kCount, value);
}

inline CUcontext Current() {
  CUcontext context = nullptr;
  DO(cuCtxGetCurrent(&context));
  return context;
}

inline bool HasContext(int device) {
  unsigned flags = 0;
  int active = 0;
  DO(cuDevicePrimaryCtxGetState(device, &flags, &active));
  return active != 0;
}

inline CUcontext Primary(int device) {
  CUcontext context = nullptr;
  DO(cuDevicePrimaryCtxRetain(&context, device));
  return context;
}

// Makes the primary context of a device current, as frameworks do.
inline void Use(int device) { DO(cuCtxSetCurrent(Primary(device))); }

inline CUstream Stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
  CUstream stream = nullptr;
  DO(cuStreamCreate(&stream, flags));
  return stream;
}

inline opcast::Launch On(int device, CUstream stream) {
  const opcast::gpu::Properties found = opcast::gpu::PropertiesOf(device);
  return {2, device, stream, found.arch, found.sm_count};
}

inline opcast::Status Add(const opcast::Launch& launch, float* y, const float* x, float value) {
  return opcast::Start(AddKernel, 1, kCount, 0, launch, y, x, value);
}

inline void ExpectError(const opcast::Status& status, const std::string& text, int line) {
  Check(!status.ok() && status.text() == text, line, status.ok() ? "no error" : status.text());
}
#define EXPECT_ERROR(status, text) ::emulated::ExpectError(status, text, __LINE__)

// Runs a test in a child and counts its checks; the result says what the test returned.
template <class F>
int64_t InChild(const char* name, F test) {
  int ends[2] = {};
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    checks = failures = 0;
    DO(cuInit(0));
    const int64_t made = test(), result[] = {made, checks, failures};
    std::fflush(stdout);
    _exit(write(ends[1], result, sizeof result) == sizeof result ? 0 : 1);
  }
  close(ends[1]);
  int64_t result[3] = {};
  int status = 0;
  const bool whole = read(ends[0], result, sizeof result) == sizeof result;
  close(ends[0]);
  waitpid(child, &status, 0);
  CHECK(whole && status == 0, std::string(name) + " ended with status " + std::to_string(status));
  checks += static_cast<int>(result[1]);
  failures += static_cast<int>(result[2]);
  return result[0];
}
inline int Finish(const std::string& more = "") {
  if (failures == 0) std::printf("ok %d checks%s\n", checks, more.c_str());
  return failures == 0 ? 0 : 1;
}

}  // namespace emulated
