// The part of HIP's API that the emulated device of AMD's has, under the names of HIP's own header.
//
// That device is a libamdhip64.so.7 in software: hip_runtime.cc on the emulated driver. Whatever
// opens that library by its name, be it the runtime or a test, drives the emulated device where it
// would drive a GPU.
#pragma once

#include <cstddef>

#include "../dim3.h"

typedef struct CUstream_st* hipStream_t;
typedef struct CUgraph_st* hipGraph_t;
typedef struct CUgraphExec_st* hipGraphExec_t;
typedef void* hipDeviceptr_t;
typedef int hipDevice_t;

// Their numbers are those of CUDA.
enum hipError_t : int {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorNotInitialized = 3,
  hipErrorInvalidDeviceFunction = 98,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorStreamCaptureImplicit = 906,
};

enum hipMemcpyKind : int { hipMemcpyDeviceToHost = 2 };

enum hipStreamCaptureStatus : int {
  hipStreamCaptureStatusNone = 0,
  hipStreamCaptureStatusActive = 1,
  hipStreamCaptureStatusInvalidated = 2,
};

enum hipStreamCaptureMode : int {
  hipStreamCaptureModeGlobal = 0,
  hipStreamCaptureModeThreadLocal = 1,
  hipStreamCaptureModeRelaxed = 2,
};

struct hipDeviceProp_tR0600 {
  char name[256];
  int warpSize;
  int multiProcessorCount;
  size_t sharedMemPerBlock;
  char gcnArchName[256];
};

// As in HIP since its version 6, whose struct is another than before.
#define hipDeviceProp_t hipDeviceProp_tR0600
#define hipGetDeviceProperties hipGetDevicePropertiesR0600

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipInit(unsigned flags);
hipError_t hipGetDeviceCount(int* count);
hipError_t hipGetDevice(int* device);
hipError_t hipSetDevice(int device);
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device);
hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device);
hipError_t hipDeviceSynchronize();
hipError_t hipGetLastError();
const char* hipGetErrorString(hipError_t error);

hipError_t hipMalloc(void** memory, size_t bytes);
hipError_t hipFree(void* memory);
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, size_t bytes);
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t bytes);
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes,
                              hipStream_t stream);
hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream);
hipError_t hipMemsetAsync(void* memory, int value, size_t bytes, hipStream_t stream);
hipError_t hipMemsetD8Async(hipDeviceptr_t memory, unsigned char value, size_t bytes,
                            hipStream_t stream);

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph);
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status);
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* ready, hipGraph_t graph,
                                        unsigned long long flags);
hipError_t hipGraphLaunch(hipGraphExec_t ready, hipStream_t stream);
hipError_t hipGraphDestroy(hipGraph_t graph);

hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                           size_t shared, hipStream_t stream);
hipError_t hipLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                      unsigned shared, hipStream_t stream);

}  // extern "C"
#pragma GCC visibility pop
