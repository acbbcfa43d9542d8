// Array arguments: shape, strides, memory.
#include <algorithm>

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

std::string DeviceName(DLDevice device) {
  const char* kind = "device";
  switch (device.device_type) {
    case kDLCPU:
      return "cpu";
    case kDLCUDA:
      kind = "cuda";
      break;
    case kDLCUDAHost:
      return "cuda_host";
    case kDLROCM:
      kind = "rocm";
      break;
    case kDLMetal:
      kind = "metal";
      break;
    default:
      break;
  }
  return std::string(kind) + ":" + std::to_string(device.device_id);
}

Tensor::Tensor(const char* name, const DLTensor* tensor) : name_(name), tensor_(tensor) {
  if (tensor == nullptr) return;
  strides_ = tensor->strides;
  if (strides_ != nullptr || tensor->ndim > kMaxRank) return;
  int64_t step = 1;
  for (int d = tensor->ndim; d-- > 0;) {
    storage_[d] = step;
    step *= tensor->shape[d];
  }
  strides_ = storage_;
}

DType Tensor::dtype() const {
  const DLDataType& t = tensor_->dtype;
  return t.lanes == 1 ? static_cast<DType>(t.code << 8 | t.bits) : static_cast<DType>(0xffff);
}

int64_t Tensor::batch(int trailing) const {
  int64_t n = 1;
  for (int d = 0; d < rank() - trailing; ++d) n *= tensor_->shape[d];
  return n;
}

bool Tensor::empty() const { return std::find(shape(), shape() + rank(), 0) != shape() + rank(); }

bool Tensor::dense() const {
  if (tensor_->strides == nullptr || empty()) return true;
  int64_t step = 1;
  for (int d = rank(); d-- > 0;) {
    if (tensor_->shape[d] != 1 && tensor_->strides[d] != step) return false;
    step *= tensor_->shape[d];
  }
  return true;
}

void* Tensor::data() const {
  if (tensor_ == nullptr || tensor_->data == nullptr) return nullptr;
  return static_cast<char*>(tensor_->data) + tensor_->byte_offset;
}

}  // namespace opcast
