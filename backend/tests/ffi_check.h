// Tensors as a C caller makes them, and what the rules say of them.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include "opcast/ffi.h"

using opcast::Call;
using opcast::Fault;
using opcast::Tensor;

inline int checks = 0, failures = 0;

// The text of the fault that f throws, "" for none.
inline std::string Thrown(const std::function<void()>& f) {
  try {
    f();
  } catch (const Fault& fault) {
    return std::string(fault.kind) + ": " + fault.text;
  }
  return "";
}

inline void Expect(const std::string& got, const std::string& want) {
  ++checks;
  if (got == want) return;
  ++failures;
  std::fprintf(stderr, "got  %s\nwant %s\n", got.c_str(), want.c_str());
}

struct Raw {
  int64_t shape[20] = {};
  int64_t strides[20] = {};
  DLTensor tensor = {};
  TVMFFIAny any = {};

  Raw(void* data, std::initializer_list<int64_t> sizes, DLDataType dtype = {kDLFloat, 32, 1}) {
    int d = 0;
    for (int64_t n : sizes) shape[d++] = n;
    tensor = {data, {kDLCPU, 0}, d, dtype, shape, nullptr, 0};
    any.type_index = kTVMFFIDLTensorPtr;
    any.v_ptr = &tensor;
  }
  Raw(const Raw&) = delete;  // its parts point at each other
  Raw& operator=(const Raw&) = delete;

  void Step(std::initializer_list<int64_t> by) {
    int d = 0;
    for (int64_t s : by) strides[d++] = s;
    tensor.strides = strides;
  }
  std::string Read() {
    return Thrown([&] {
      const Call call("op", &any, 1, 1);
      const Tensor t = call.Array(0, "x");
      call.Dense(t);
      call.LastDense(t);
      call.Data(t);
    });
  }
  std::string ReadInts(int n, int64_t* out) {
    return Thrown([&] { Call("op", &any, 1, 1).Ints(0, "pad", n, out); });
  }
};

// Arguments that are no tensors.
inline const TVMFFIAny kNone = {};

inline TVMFFIAny Number(double value) {
  TVMFFIAny any = {};
  any.type_index = kTVMFFIFloat;
  any.v_float64 = value;
  return any;
}

inline TVMFFIAny Int(int64_t value, int32_t type = kTVMFFIInt) {
  TVMFFIAny any = {};
  any.type_index = type;
  any.v_int64 = value;
  return any;
}

inline TVMFFIAny Text(const char* text) {
  TVMFFIAny any = {};
  any.type_index = kTVMFFIRawStr;
  any.v_c_str = text;
  return any;
}

// Prints what the runner expects and returns the exit code.
inline int Finish() {
  if (failures == 0) std::printf("ok %d checks\n", checks);
  return failures == 0 ? 0 : 1;
}
