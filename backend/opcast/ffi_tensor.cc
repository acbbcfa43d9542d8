// Array arguments: shape, strides, memory, and the names in messages.
#include <cstdio>

#include "opcast/ffi.h"

namespace opcast {

const char* DTypeName(DType dtype) {
  switch (dtype) {
#define OPCAST_CASE(enumerator, name, code, bits) \
  case DType::enumerator:                         \
    return name;
    OPCAST_DTYPES(OPCAST_CASE)
#undef OPCAST_CASE
  }
  return "unknown";
}

DType DTypeNamed(std::string_view name) {
#define OPCAST_CASE(enumerator, text, code, bits) \
  if (name == text) return DType::enumerator;
  OPCAST_DTYPES(OPCAST_CASE)
#undef OPCAST_CASE
  return kNoDType;
}

DLDataType DataType(DType dtype) {
  const auto code = static_cast<uint16_t>(dtype);
  return {static_cast<uint8_t>(code >> 8), static_cast<uint8_t>(code & 0xff), 1};
}

std::string DeviceName(DLDevice device) {
  static constexpr const char* kKinds[] = {
      "cuda",   "cuda_host", "opencl",  "",          "",        "vulkan",
      "metal",  "vpi",       "rocm",    "rocm_host", "ext_dev", "cuda_managed",
      "oneapi", "webgpu",    "hexagon", "maia",      "trn"};
  if (device.device_type == kDLCPU) return "cpu";
  const std::string kind =
      IsDeviceType(device.device_type) ? kKinds[device.device_type - kDLCUDA] : "device";
  return device.device_type == kDLCUDAHost ? kind : kind + ":" + std::to_string(device.device_id);
}

void CheckDevice(const Call& call, const char* type_name, int64_t type, const char* number_name,
                 int64_t number) {
  if (!IsDeviceType(type))
    call.Expected("ValueError", type_name, "a device type of DLPack", std::to_string(type));
  if (type == kDLCPU || IsDeviceNumber(number)) return;
  call.Expected("ValueError", number_name,
                "a device number from 0 to " + std::to_string(kMaxDevices - 1),
                std::to_string(number));
}

std::string List(const int64_t* values, int n) {
  std::string s = "[";
  for (int i = 0; i < n; ++i) s += (i ? ", " : "") + std::to_string(values[i]);
  return s + "]";
}

std::string Number(double v) {
  if (v != v) return "nan";  // printf may write -nan
  char text[32];
  std::snprintf(text, sizeof text, "%g", v);
  return text;
}

namespace {

// Throws if no memory is there or has this shape. An array without elements may be as large as it
// likes.
[[gnu::cold]] void CheckMemory(const Call& call, const char* name, const DLTensor& t) {
  if (t.ndim == kUnmade && call.allocator() != nullptr) return;
  CheckDevice(call, name, t.device.device_type, name, t.device.device_id);
  if (t.ndim < 0) {
    call.Expected("ValueError", name, "at least 0 dimensions", std::to_string(t.ndim));
  }
  if (t.ndim > 0 && t.shape == nullptr) {
    call.Expected("ValueError", name, "a shape", "a null pointer");
  }
  int64_t count = 1;
  bool empty = false, negative = false, many = false;
  for (int d = 0; d < t.ndim; ++d) {
    empty = empty || t.shape[d] == 0;
    negative = negative || t.shape[d] < 0;
    many = __builtin_mul_overflow(count, t.shape[d], &count) || many;
  }
  const char* expected = negative         ? "no negative size"
                         : many && !empty ? "fewer elements than 2^63"
                         : t.strides == nullptr && t.ndim > Tensor::kMaxRank
                             ? "at most 16 dimensions"
                             : nullptr;
  if (expected == nullptr) return;
  call.Expected("ValueError", name, expected, "shape " + List(t.shape, t.ndim));
}

}  // namespace

void Tensor::Read(const Call& call) {
  const DLTensor& t = *tensor_;
  const bool strided = t.strides != nullptr;
  bool odd = t.ndim < 0 || (t.ndim > 0 && t.shape == nullptr) || (!strided && t.ndim > kMaxRank);
  if (t.device.device_type != kDLCPU)
    odd = odd || !IsDeviceType(t.device.device_type) || !IsDeviceNumber(t.device.device_id);
  int64_t count = 1;
  for (int d = odd ? 0 : t.ndim; d-- > 0;) {
    const int64_t n = t.shape[d];
    if (!strided) {
      storage_[d] = count;
    } else if (n != 1 && t.strides[d] != count) {
      dense_ = false;
    }
    odd = __builtin_mul_overflow(count, n, &count) || n < 0 || odd;
  }
  if (__builtin_expect(odd, false)) {
    CheckMemory(call, name_, t);
    count = 0;  // else it would have been refused
  }
  strides_ = strided ? t.strides : storage_;
  count_ = count;
  dense_ = dense_ || count == 0;
  data_ = t.data == nullptr ? nullptr : static_cast<char*>(t.data) + t.byte_offset;
}

}  // namespace opcast
