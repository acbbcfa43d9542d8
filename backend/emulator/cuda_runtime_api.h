// The part of CUDA's runtime API that opcast's runtime and kernels use, on the emulated driver.
//
// cudart.cc implements it as CUDA's static library does: it is part of each library, opens the
// driver when it is first called, and acts on the context that is current in the driver.
#pragma once

#include "cuda.h"
#include "dim3.h"

enum cudaError_t : int {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorInsufficientDriver = 35,
  cudaErrorInvalidDevice = 101,
  cudaErrorStreamCaptureImplicit = 906,
};

typedef CUstream cudaStream_t;

enum cudaDeviceAttr : int {
  cudaDevAttrMultiProcessorCount = CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
  cudaDevAttrComputeCapabilityMajor = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
  cudaDevAttrComputeCapabilityMinor = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
};

enum cudaMemcpyKind : int { cudaMemcpyDeviceToHost = 2 };

enum cudaStreamCaptureStatus : int { cudaStreamCaptureStatusNone = CU_STREAM_CAPTURE_STATUS_NONE };

enum cudaStreamCaptureMode : int {
  cudaStreamCaptureModeGlobal = CU_STREAM_CAPTURE_MODE_GLOBAL,
  cudaStreamCaptureModeThreadLocal = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
  cudaStreamCaptureModeRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED,
};

enum cudaFuncAttribute : int { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

enum cudaLaunchAttributeID : int {
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
};

union cudaLaunchAttributeValue {
  int cooperative;
  int programmaticStreamSerializationAllowed;
  struct {
    unsigned x, y, z;
  } clusterDim;
};

struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
