// A library as someone writes it by hand: one export, outputs before inputs before attrs. The
// macros plant faults.
#include <tvm/ffi/tvm_ffi.h>

#include <cstdint>
#include <initializer_list>
#include <memory>

namespace ffi = tvm::ffi;

namespace {

void Require(bool holds, const char* what) {
  if (!holds) TVM_FFI_THROW(ValueError) << what;
}

bool Dense(const ffi::TensorView& a) {
  int64_t step = 1;
  for (int i = a.ndim() - 1; i >= 0; --i) {
    if (a.size(i) != 1 && a.stride(i) != step && a.numel() != 0) return false;
    step *= a.size(i);
  }
  return true;
}

void RequireArray(const ffi::TensorView& a, DLDataType type) {
  Require(a.ndim() >= 0 && a.ndim() <= 64, "weigh: at most 64 dimensions, please");
  Require(a.dtype() == type, "weigh: arrays of one dtype, please");
  Require(a.device().device_type == kDLCPU, "weigh: arrays on the CPU, please");
  Require(Dense(a), "weigh: dense arrays, please");
  Require(a.numel() == 0 || a.data_ptr() != nullptr, "weigh: memory, please");
}

// Apart says whether no byte of y is one of a.
bool Apart(const ffi::TensorView& y, const ffi::TensorView& a) {
  const auto begin = [](const ffi::TensorView& v) {
    return reinterpret_cast<uintptr_t>(v.data_ptr());
  };
  const auto size = [](const ffi::TensorView& v) {
    return static_cast<uintptr_t>(v.numel()) * v.dtype().bits / 8;
  };
  return begin(y) + size(y) <= begin(a) || begin(a) + size(a) <= begin(y);
}

template <typename T>
void Rows(const ffi::TensorView& y, const ffi::TensorView& x, const ffi::TensorView& w,
          const T* bias, double alpha) {
  const int64_t columns = w.numel(), all = x.numel();
  T* to = static_cast<T*>(y.data_ptr());
#ifdef HOLDS_THE_SQUARE
  const std::unique_ptr<T[]> pairs(new T[columns * columns]);
  asm volatile("" : : "r"(pairs.get()) : "memory");  // else the compiler leaves them out
#endif
  const T *from = static_cast<const T*>(x.data_ptr()), *scale = static_cast<const T*>(w.data_ptr());
#ifdef FORGETS_THE_LAST
  for (int64_t i = 0; i + 1 < all; ++i) {
#else
  for (int64_t i = 0; i < all; ++i) {
#endif
    const int64_t j = i % columns;
    to[i] =
        static_cast<T>(alpha * (static_cast<double>(from[i]) * scale[j]) + (bias ? bias[j] : 0.0));
  }
#ifdef WRITES_BEYOND
  to[all] = 0;
#endif
}

void Weigh(ffi::TensorView y, ffi::TensorView x, ffi::TensorView w,
           ffi::Optional<ffi::TensorView> bias, double alpha) {
  const DLDataType type = x.dtype();
  Require(type.code == kDLFloat && (type.bits == 32 || type.bits == 64) && type.lanes == 1,
          "weigh: floats, please");
  for (const ffi::TensorView* a : {&y, &x, &w}) RequireArray(*a, type);
  Require(x.ndim() >= 1 && w.ndim() == 1 && x.size(x.ndim() - 1) == w.size(0),
          "weigh: a scale for each column, please");
  Require(y.ndim() == x.ndim(), "weigh: y is not like x");
  for (int i = 0; i < x.ndim(); ++i) Require(y.size(i) == x.size(i), "weigh: y is not like x");
#ifndef TRUSTS_ATTRS
  Require(alpha >= 0, "weigh: alpha is negative");
#endif
  if (bias.has_value()) {
    RequireArray(*bias, type);
    Require(bias.value().ndim() == 1 && bias.value().size(0) == w.size(0),
            "weigh: a bias for each column, please");
  }
  Require(Apart(y, x) && Apart(y, w) && (!bias.has_value() || Apart(y, bias.value())),
          "weigh: y apart, please");
  const void* added = bias.has_value() ? bias.value().data_ptr() : nullptr;
  if (type.bits == 32) {
    Rows<float>(y, x, w, static_cast<const float*>(added), alpha);
  } else {
    Rows<double>(y, x, w, static_cast<const double*>(added), alpha);
  }
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(weigh, Weigh);
