// The values of a call on PyTorch's stack as arguments of an export, and its results back.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "torch_array.h"
#include "torch_items.h"

namespace opcast_torch {

// One call: its arguments on their way from PyTorch's stack to the export, and its results back.
class Frame {
 public:
  Frame(const Op& op, Form form, Boxed* stack) : op_(op), form_(form), stack_(stack) {}
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() {
    for (StringHandle text : texts_) torch_delete_string(text);
  }

  // The arguments of the collection's _opcast_make for an op that it knows by this address.
  const Items<TVMFFIAny, 32>& Arguments(void* op) {
    Inputs(), Outputs(), ReadInputs();
    size_t attrs = 0;
    for (int i = 0; i < op_.attr_count; ++i) attrs += op_.attrs[i].kind == Attr::kDType ? 0 : 1;
    const auto scratch = static_cast<size_t>(op_.scratch_count);
    const auto lists = static_cast<size_t>(op_.list_count);
    arguments_.Make(3 + lists + outputs_.size() + inputs_.size() + attrs + scratch);
    scratch_.Make(scratch);
    TVMFFIAny* next = arguments_.begin();
    *next++ = Pointer(kTVMFFIOpaquePtr, op);
    *next++ = Pointer(kTVMFFIOpaquePtr, reinterpret_cast<void*>(&Allocate));
    *next++ = Pointer(kTVMFFIOpaquePtr, this);
    for (int i = 0; i < op_.input_count; ++i) {
      if (op_.inputs[i].list < 0) continue;
      *next = Value(kTVMFFIInt);
      (next++)->v_int64 = static_cast<int64_t>(Length(i));
    }
    TVMFFIAny* const arrays = next;
    next = Attributes(arrays + outputs_.size() + inputs_.size());  // they choose dtypes of outputs
    for (size_t i = 0; i < scratch; ++i) *next++ = Value(kTVMFFINone);
    next = arrays;
    for (auto* group : {&outputs_, &inputs_}) {
      for (Array& array : *group) {
        const bool there = array || array.view.ndim < 0;
        *next++ = Pointer(kTVMFFIDLTensorPtr, there ? &array.view : nullptr);
      }
    }
    TVMFFIAny* const inputs = arrays + outputs_.size();
    for (int i = 0; i < op_.input_count; ++i) {
      if (IsNumber(i)) inputs[starts_[static_cast<size_t>(i)]] = numbers_[static_cast<size_t>(i)];
    }
    return arguments_;
  }
  // Where the call runs. A list without arrays, which the collection refuses, is nowhere.
  DLDevice device() const {
    return inputs_.size() == 0 || !inputs_[0] ? DLDevice{kDLCPU, 0} : inputs_[0].view.device;
  }

  // Puts the results onto the stack.
  void Return() {
    if (form_ == Form::kInto) return;
    int at = 0;
    size_t place = 0;
    for (int i = 0; i < op_.output_count; ++i) {
      const Output& output = op_.outputs[i];
      const size_t begin = place;
      place += CountOf(output);
      if (output.saved && form_ != Form::kTrain) continue;
      if (output.list < 0) {
        if (!outputs_[begin]) outputs_[begin] = Array::Nothing(inputs_[0]);
        stack_[at++] = outputs_[begin].Release();
        continue;
      }
      StableListHandle list = nullptr;
      Ok(torch_new_list_reserve_size(place - begin, &list), "list");
      for (size_t k = begin; k < place; ++k) {
        Ok(torch_list_push_back(list, outputs_[k].Release()), "list");
      }
      stack_[at++] = reinterpret_cast<Boxed>(list);
    }
  }

 private:
  // Takes the inputs off the stack.
  void Inputs() {
    starts_.Make(static_cast<size_t>(op_.input_count) + 1);
    size_t count = 0;
    for (int i = 0; i < op_.input_count; ++i) {
      starts_[static_cast<size_t>(i)] = count;
      size_t size = 1;
      if (op_.inputs[i].list >= 0) Ok(torch_list_size(ListAt(i), &size), "list");
      count += size;
    }
    starts_[static_cast<size_t>(op_.input_count)] = count;
    inputs_.Make(count);
    numbers_.Make(form_ == Form::kNumbers ? static_cast<size_t>(op_.input_count) : 0);
    for (int i = 0; i < op_.input_count; ++i) {
      const Input& input = op_.inputs[i];
      Array* const first = inputs_.begin() + starts_[static_cast<size_t>(i)];
      if (input.list >= 0) {
        for (size_t k = 0; k < Length(i); ++k) {
          Boxed item = 0;
          Ok(torch_list_get_item(ListAt(i), k, &item), "list");
          first[k] = Array::Of(item);
        }
        Ok(torch_delete_list(ListAt(i)), "list");
      } else if (Boxed value = stack_[i]; !input.optional || Unwrap(value, &value)) {
        if (IsNumber(i)) {
          numbers_[static_cast<size_t>(i)] = Unboxed(static_cast<Attr::Kind>(input.number), value);
        } else {
          *first = Array::Of(value);
        }
      }
    }
  }

  // Looks how the inputs lie. Of a copy that fails, nothing that this call owns is left.
  void ReadInputs() {
    Array* next = inputs_.begin();
    for (int i = 0; i < op_.input_count; ++i) {
      const Stride stride = op_.inputs[i].mutated ? Stride::kAny : op_.inputs[i].stride;
      for (size_t k = Length(i); k-- > 0; ++next)
        if (*next) next->Read(stride);
    }
    Align(op_, starts_.begin(), inputs_.begin(), outputs_.begin(), outputs_.size());
  }

  bool IsNumber(int i) const { return form_ == Form::kNumbers && op_.inputs[i].number >= 0; }
  bool Given(int i) const {
    if (i >= op_.input_count) return (stack_[i] & 0xff) != 0;  // an attribute of type bool
    return InputAt(i) ||
           (IsNumber(i) && numbers_[static_cast<size_t>(i)].type_index != kTVMFFINone);
  }
  StableListHandle ListAt(int i) const { return reinterpret_cast<StableListHandle>(stack_[i]); }
  size_t Length(int i) const {
    return starts_[static_cast<size_t>(i) + 1] - starts_[static_cast<size_t>(i)];
  }
  const Array& InputAt(int i) const { return inputs_[starts_[static_cast<size_t>(i)]]; }

  // Takes an optional value out of its box; false if there is none.
  static bool Unwrap(Boxed value, Boxed* inner) {
    auto* box = reinterpret_cast<Boxed*>(value);
    if (box == nullptr) return false;
    *inner = *box;
    delete box;  // as PyTorch's own header does for the oldest release
    return true;
  }

  // Takes given outputs off the stack; leaves the others that the call has to the collection.
  void Outputs() {
    size_t count = 0;
    for (int i = 0; i < op_.output_count; ++i) count += CountOf(op_.outputs[i]);
    outputs_.Make(count);
    size_t place = 0;
    int given = op_.input_count + op_.attr_count;
    for (int i = 0; i < op_.output_count; ++i) {
      const Output& output = op_.outputs[i];
      if (form_ == Form::kInto) {
        if (!output.saved) Given(output, stack_[given++], &outputs_[place]);
        ++place;
        continue;
      }
      const bool there = (form_ == Form::kTrain || !output.saved) &&
                         (output.present_if < 0 || Given(output.present_if));
      for (size_t k = CountOf(output); k-- > 0;) outputs_[place++].view.ndim = there ? -1 : 0;
    }
  }

  static void Given(const Output& output, Boxed value, Array* array) {
    if (output.present_if >= 0 && !Unwrap(value, &value)) return;
    *array = Array::Of(value);
    if (*array) array->Read(Stride::kAny);
  }

  // How many arrays an output is.
  size_t CountOf(const Output& output) const {
    if (output.list < 0) return 1;
    int i = 0;
    while (op_.inputs[i].list != output.list) ++i;
    return Length(i);
  }

  // Writes the attributes to `next`, and the dtypes that they choose to the outputs.
  TVMFFIAny* Attributes(TVMFFIAny* next) {
    for (int i = 0; i < op_.attr_count; ++i) {
      const Attr& attr = op_.attrs[i];
      Boxed value = stack_[op_.input_count + i];
      const bool given = !attr.optional || Unwrap(value, &value);
      if (attr.kind == Attr::kDType) {
        Choose(attr, given ? &value : nullptr);
      } else {
        *next++ = given ? Unboxed(attr.kind, value) : Value(kTVMFFINone);
      }
    }
    return next;
  }

  void Choose(const Attr& attr, const Boxed* value) {
    DLDataType type = attr.fixed;
    if (value != nullptr) {
      int32_t number = 0;
      std::memcpy(&number, value, sizeof number);
      type = TypeOf(number);
    } else if (attr.like >= 0 && Length(attr.like) > 0) {
      type = InputAt(attr.like).view.dtype;
    }
    size_t place = 0;
    for (int i = 0; i < op_.output_count; ++i) {
      for (size_t k = CountOf(op_.outputs[i]); k-- > 0; ++place) {
        if (i == attr.carrier && !outputs_[place]) outputs_[place].view.dtype = type;
      }
    }
  }

  TVMFFIAny Unboxed(Attr::Kind kind, Boxed value) {
    TVMFFIAny out = {};
    switch (kind) {
      case Attr::kInt:
        out = Value(kTVMFFIInt);
        out.v_int64 = static_cast<int64_t>(value);
        return out;
      case Attr::kFloat:
        out = Value(kTVMFFIFloat);
        std::memcpy(&out.v_float64, &value, sizeof value);
        return out;
      case Attr::kBool:
        out = Value(kTVMFFIBool);
        out.v_int64 = (value & 0xff) != 0 ? 1 : 0;
        return out;
      case Attr::kString:
        texts_.push_back(reinterpret_cast<StringHandle>(value));
        out = Value(kTVMFFIRawStr);
        Ok(torch_string_c_str(texts_.back(), &out.v_c_str), "str");
        return out;
      default:
        return Pointer(kTVMFFIDLTensorPtr, Numbers(reinterpret_cast<StableListHandle>(value)));
    }
  }

  struct Ints {
    std::vector<int64_t> values;
    int64_t count;
    DLTensor view;
  };

  DLTensor* Numbers(StableListHandle list) {
    ints_.push_back(std::make_unique<Ints>());
    Ints& ints = *ints_.back();
    size_t size = 0;
    Ok(torch_list_size(list, &size), "int[]");
    for (size_t i = 0; i < size; ++i) {
      Boxed item = 0;
      Ok(torch_list_get_item(list, i, &item), "int[]");
      ints.values.push_back(static_cast<int64_t>(item));
    }
    Ok(torch_delete_list(list), "int[]");
    ints.count = static_cast<int64_t>(size);
    ints.view = {ints.values.data(), {kDLCPU, 0}, 1, {kDLInt, 64, 1}, &ints.count, nullptr, 0};
    return &ints.view;
  }

  // Makes an output, or scratch, which lives as long as the call.
  static bool Allocate(void* context, DLTensor* wanted) noexcept {
    try {
      auto* frame = static_cast<Frame*>(context);
      Array* array = frame->OutputAt(wanted);
      if (array == nullptr) array = &frame->scratch_[frame->scratches_++];
      const DLTensor copy = *wanted;
      if (!array->Make(copy)) return false;
      *wanted = array->view;
      return true;
    } catch (...) {
      return false;
    }
  }

  Array* OutputAt(const DLTensor* view) {
    for (Array& array : outputs_) {
      if (&array.view == view) return &array;
    }
    return nullptr;
  }

  const Op& op_;
  const Form form_;
  Boxed* const stack_;
  Items<Array, 6> inputs_, outputs_;
  Items<Array, 2> scratch_;
  size_t scratches_ = 0;         // how many of them are made
  Items<size_t, 8> starts_;      // where each input begins among the arrays
  Items<TVMFFIAny, 8> numbers_;  // by input, if the call has numbers in the place of some
  Items<TVMFFIAny, 32> arguments_;
  std::vector<StringHandle> texts_;
  std::vector<std::unique_ptr<Ints>> ints_;
};

}  // namespace opcast_torch
