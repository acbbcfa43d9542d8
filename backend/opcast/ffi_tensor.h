// An array argument of an exported call.
#pragma once

#include <tvm/ffi/c_api.h>

#include <string>
#include <string_view>

#include "opcast/kernel.h"

namespace opcast {

class Call;

const char* DTypeName(DType dtype);       // "float32"; "unknown" outside the table
DType DTypeNamed(std::string_view name);  // kNoDType outside the table
constexpr DType kNoDType = static_cast<DType>(0xffff);
DLDataType DataType(DType dtype);         // as DLPack has it, of one lane
std::string DeviceName(DLDevice device);  // "cpu", "cuda:0"

// Whether DLPack has a type of device.
constexpr bool IsDeviceType(int64_t type) {
  return (type >= kDLCPU && type <= kDLOpenCL) || (type >= kDLVulkan && type <= kDLTrn);
}
// Whether a device may have a number. There are tables with a place for each, so there is a limit.
constexpr int64_t kMaxDevices = 4096;
constexpr bool IsDeviceNumber(int64_t number) { return number >= 0 && number < kMaxDevices; }
// Throws unless both are right. What the host's number is does not matter.
void CheckDevice(const Call& call, const char* type_name, int64_t type, const char* number_name,
                 int64_t number);
std::string List(const int64_t* values, int n);  // "[2, 3]"
std::string Number(double value);                // as %g writes it, without the sign of a nan

// A tensor that memory can have, or an absent argument, which is false. Does not own the memory.
// What the rules ask for again and again is found out once, in one pass over the dims.
class Tensor {
 public:
  // An absent argument if `tensor` is null. Throws for a device that there cannot be and for a
  // shape that no memory can have, so that nobody after it has to care when multiplying.
  // `everywhere` is for a number, which needs no memory of a device.
  Tensor(const Call& call, const char* name, const DLTensor* tensor, bool everywhere = false)
      : name_(name), tensor_(tensor), everywhere_(everywhere) {
    if (tensor != nullptr) Read(call);
  }
  Tensor(const Tensor&) = delete;  // strides may point into the object
  Tensor& operator=(const Tensor&) = delete;

  static constexpr int kMaxRank = 16;  // of tensors that come without strides

  explicit operator bool() const { return tensor_ != nullptr; }
  // Whether it is an output that has yet to be made; see Call::Make.
  bool unmade() const { return tensor_ != nullptr && tensor_->ndim < 0; }
  const char* name() const { return name_; }
  DType dtype() const {
    const DLDataType& t = tensor_->dtype;
    return t.lanes == 1 ? static_cast<DType>(t.code << 8 | t.bits) : kNoDType;
  }
  // Managed memory is that of a GPU for whoever computes with it.
  DLDevice device() const {
    const DLDevice d = tensor_->device;
    return d.device_type == kDLCUDAManaged ? DLDevice{kDLCUDA, d.device_id} : d;
  }
  int rank() const { return tensor_->ndim; }
  const int64_t* shape() const { return tensor_->shape; }
  const int64_t* strides() const { return strides_; }
  // Size of a dim; negative dims count from the end.
  int64_t size(int dim) const { return tensor_->shape[dim < 0 ? dim + tensor_->ndim : dim]; }
  // Product of the dims before the last `trailing` ones.
  int64_t batch(int trailing) const {
    int64_t n = 1;
    for (int d = 0; d < rank() - trailing; ++d) n *= tensor_->shape[d];
    return n;
  }
  // Bytes of an element.
  uintptr_t item_size() const { return (tensor_->dtype.bits * tensor_->dtype.lanes + 7u) / 8u; }
  bool empty() const { return count_ == 0; }  // no elements, or absent
  bool dense() const { return dense_; }
  bool everywhere() const { return everywhere_; }
  // First element; null for an absent argument.
  template <class T = void>
  T* data() const {
    return static_cast<T*>(static_cast<void*>(data_));
  }
  Layout layout(int trailing) const { return {rank(), shape(), strides_, trailing}; }

  // Whether both are in the memory of one device; the host has only one.
  bool together(const Tensor& other) const {
    if (everywhere_) return true;
    const DLDevice a = device(), b = other.device();
    return a.device_type == b.device_type &&
           (a.device_id == b.device_id || a.device_type == kDLCPU);
  }

  // Whether no byte belongs to elements of both arrays. It may say no only because it did not look
  // closely: that is what Overlap does.
  bool surely_apart(const Tensor& other) const {
    if (count_ == 0 || other.count_ == 0) return true;
    if (!dense_ || !other.dense_ || (count_ | other.count_) >> 56 != 0) return false;
    return data_ + bytes() <= other.data_ || other.data_ + other.bytes() <= data_;
  }

 private:
  friend class Call;  // which makes outputs
  void Read(const Call& call);
  uintptr_t bytes() const { return static_cast<uintptr_t>(count_) * item_size(); }

  const char* const name_;
  const DLTensor* const tensor_;
  const int64_t* strides_ = nullptr;
  char* data_ = nullptr;
  int64_t count_ = 0;  // elements
  bool dense_ = true;
  const bool everywhere_;
  int64_t storage_[kMaxRank];
};

// Whether two elements of the arrays share memory. Exact for arrays of one shape and one set of
// strides, such as two column blocks of one buffer; else whether the ranges of their bytes meet.
bool Overlap(const Tensor& a, const Tensor& b);

}  // namespace opcast
