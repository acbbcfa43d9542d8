#include "torch_array.h"

#include <new>
#include <vector>

#include "torch_items.h"

namespace opcast_torch {
namespace {

struct Number {
  int32_t number;
  DLDataType type;
};

// The element types that this release has.
const std::vector<Number>& Numbers() {
  static const std::vector<Number> all = [] {
    std::vector<Number> found;
    for (int i = 0; i < kTypeCount; ++i) {
      if (kTypes[i].number != nullptr) found.push_back({kTypes[i].number(), kTypes[i].dlpack});
    }
    return found;
  }();
  return all;
}

// PyTorch calls AMD's GPUs "cuda", too. This library is built with its collection, for the same.
#if defined(OPCAST_ROCM)
constexpr DLDeviceType kGpu = kDLROCM;
#else
constexpr DLDeviceType kGpu = kDLCUDA;
#endif

// The addresses from a tensor's first element to the end of its last; PyTorch has no strides below
// 0.
std::pair<uintptr_t, uintptr_t> Span(const DLTensor& t) {
  const auto begin = reinterpret_cast<uintptr_t>(t.data);
  int64_t last = 0, step = 1;
  for (int32_t d = t.ndim; d-- > 0;) {
    if (t.shape[d] == 0) return {begin, begin};
    last += (t.shape[d] - 1) * (t.strides == nullptr ? step : t.strides[d]);
    step *= t.shape[d];
  }
  return {begin, begin + static_cast<uintptr_t>((last + 1) * t.dtype.bits / 8)};
}

bool Meet(const Array& a, const Array& b) {
  if (!a || !b) return false;
  const auto one = Span(a.view), other = Span(b.view);
  return one.first < other.second && other.first < one.second;
}

}  // namespace

DLDataType TypeOf(int32_t number) {
  for (const Number& n : Numbers()) {
    if (n.number == number) return n.type;
  }
  return {kDLOpaqueHandle, 0, 1};  // which the collection refuses
}

int32_t NumberOf(DLDataType type) {
  for (const Number& n : Numbers()) {
    if (n.type.code == type.code && n.type.bits == type.bits) return n.number;
  }
  return -1;
}

Array Array::Of(Boxed value) {
  Array made(reinterpret_cast<AtenTensorHandle>(value));
  bool defined = false;
  Ok(aoti_torch_is_defined(made.tensor_, &defined), "is_defined");
  return defined ? std::move(made) : Array();
}

Array Array::Nothing(const Array& like) {
  DLTensor wanted = like.view;
  int64_t none = 0;
  wanted.ndim = 1;
  wanted.shape = &none;
  Array made;
  if (!made.Make(wanted)) throw std::bad_alloc();
  return made;
}

bool Array::Make(const DLTensor& wanted) {
  Items<int64_t, 8> strides;
  strides.Make(static_cast<size_t>(wanted.ndim));
  int64_t step = 1;
  for (int32_t d = wanted.ndim; d-- > 0;) {
    strides[static_cast<size_t>(d)] = step;
    step *= wanted.shape[d] > 1 ? wanted.shape[d] : 1;
  }
  const bool cuda = wanted.device.device_type == kGpu;
  if (aoti_torch_empty_strided(wanted.ndim, wanted.shape, strides.begin(), NumberOf(wanted.dtype),
                               cuda ? aoti_torch_device_type_cuda() : aoti_torch_device_type_cpu(),
                               cuda ? wanted.device.device_id : 0, &tensor_) != 0) {
    return false;
  }
  view = wanted;
  Ok(aoti_torch_get_sizes(tensor_, &view.shape), "sizes");
  Ok(aoti_torch_get_data_ptr(tensor_, &view.data), "data");
  return true;
}

void Array::Read(Stride stride) {
  bool dense = false;
  Ok(aoti_torch_is_contiguous(tensor_, &dense), "is_contiguous");
  if (!dense && stride == Stride::kDense) {
    CopyDense();
    dense = true;
  }
  Look(dense);
  if (dense || stride == Stride::kAny) return;
  const int last = view.ndim - 1;  // what is not dense has dims
  if (view.strides[last] == 1 || view.shape[last] <= 1) return;
  CopyDense();
  Look(true);
}

void Array::Align(uintptr_t align) {
  if (view.strides != nullptr) CopyDense();
  Look(true);
  if (reinterpret_cast<uintptr_t>(view.data) % align == 0) return;
  Copy("aten::clone", 0);  // as it lies, which is densely
  Look(true);
}

void Array::CopyDense() {
  Copy("aten::contiguous", static_cast<Boxed>(aoti_torch_memory_format_contiguous_format()));
}

void Array::Copy(const char* op, Boxed format) {
  AtenTensorHandle given = nullptr;  // the dispatcher takes it, also if it fails
  Ok(aoti_torch_new_tensor_handle(tensor_, &given), "handle");
  Boxed stack[2] = {reinterpret_cast<Boxed>(given), format};
  if (torch_call_dispatcher(op, "", stack, TORCH_ABI_VERSION) != 0) {
    Look(false);  // the oldest release does not say why
    if (Array dense; NumberOf(view.dtype) >= 0 && !dense.Make(view)) throw std::bad_alloc();
    throw std::runtime_error("RuntimeError: PyTorch made no copy");
  }
  const Array before(std::exchange(tensor_, reinterpret_cast<AtenTensorHandle>(stack[0])));
}

void Array::Look(bool dense) {
  int64_t rank = 0;
  int32_t number = 0, device = 0, index = 0;
  Ok(aoti_torch_get_dtype(tensor_, &number), "dtype");
  Ok(aoti_torch_get_dim(tensor_, &rank), "dim");
  Ok(aoti_torch_get_sizes(tensor_, &view.shape), "sizes");
  view.strides = nullptr;  // as dense memory may have it
  if (!dense) Ok(aoti_torch_get_strides(tensor_, &view.strides), "strides");
  Ok(aoti_torch_get_device_type(tensor_, &device), "device");
  Ok(aoti_torch_get_device_index(tensor_, &index), "device");
  Ok(aoti_torch_get_data_ptr(tensor_, &view.data), "data");
  view.ndim = static_cast<int32_t>(rank);
  view.dtype = TypeOf(number);
  view.device = {device == aoti_torch_device_type_cuda() ? kGpu : kDLCPU, index < 0 ? 0 : index};
}

void Align(const Op& op, const size_t* starts, Array* inputs, const Array* outputs, size_t count) {
  for (int i = 0; i < op.input_count; ++i) {
    Array& input = inputs[starts[i]];  // lists are taken as they lie
    const uintptr_t align = op.inputs[i].align;
    if (align == 1 || !input || reinterpret_cast<uintptr_t>(input.view.data) % align == 0) continue;
    bool written = false;
    for (int j = 0; j < op.input_count; ++j) {
      for (size_t k = starts[j]; op.inputs[j].mutated && k < starts[j + 1]; ++k) {
        written = written || Meet(input, inputs[k]);
      }
    }
    for (size_t k = 0; k < count; ++k) written = written || Meet(input, outputs[k]);
    if (!written) input.Align(align);
  }
}

}  // namespace opcast_torch
