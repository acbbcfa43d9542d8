// Tensors of PyTorch as the arrays that exports of tvm-ffi read.
#pragma once

#include <dlpack/dlpack.h>
#include <torch/csrc/stable/c/shim.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "torch_call.h"

namespace opcast_torch {

// PyTorch's functions fail only where memory or a driver does.
inline void Ok(AOTITorchError code, const char* what) {
  if (code != 0) throw std::runtime_error(what);
}

// An element type of PyTorch, whose numbers are functions of the running release, as DLPack has it.
DLDataType TypeOf(int32_t number);
// The number of an element type, or -1 where this release has none.
int32_t NumberOf(DLDataType type);

// A tensor that this call owns, and how it lies.
class Array {
 public:
  Array() = default;
  explicit Array(AtenTensorHandle tensor) : tensor_(tensor) {}
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  Array(Array&& other) noexcept
      : view(other.view), tensor_(std::exchange(other.tensor_, nullptr)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(tensor_, other.tensor_);
    view = other.view;
    return *this;
  }
  ~Array() {
    if (tensor_ != nullptr) aoti_torch_delete_tensor_object(tensor_);
  }

  // The tensor that a value of PyTorch's stack is, which is now this call's; none for one that is
  // undefined, as PyTorch passes None where a tensor is required.
  static Array Of(Boxed value);
  // A new one without elements that stands for an absent result.
  static Array Nothing(const Array& like);
  // A new dense one of the device, dtype and shape of an array. Whether there was memory.
  bool Make(const DLTensor& wanted);

  explicit operator bool() const { return tensor_ != nullptr; }
  // Replaces the tensor by a dense copy if a kernel cannot read it, and looks how it lies.
  void Read(Stride stride);
  // Replaces the tensor by a copy whose address is a multiple of so many bytes.
  void Align(uintptr_t align);
  // Gives the tensor away.
  Boxed Release() { return reinterpret_cast<Boxed>(std::exchange(tensor_, nullptr)); }

  DLTensor view{};

 private:
  void CopyDense();
  void Copy(const char* op, Boxed format);
  void Look(bool dense);

  AtenTensorHandle tensor_ = nullptr;
};

// Aligns the inputs that no kernel takes where they lie. What shares memory with an array that the
// op writes stays there: the collection says what is wrong with it.
void Align(const Op& op, const size_t* starts, Array* inputs, const Array* outputs, size_t count);

}  // namespace opcast_torch
