// The values of a call on PyTorch's stack as arguments of an export, and its results back.
#pragma once

#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "torch_array.h"

namespace opcast_torch {

inline TVMFFIAny Value(int32_t type) {
  TVMFFIAny value = {};
  value.type_index = type;
  return value;
}

inline TVMFFIAny Address(void* address) {
  TVMFFIAny value = Value(address == nullptr ? kTVMFFINone : kTVMFFIOpaquePtr);
  value.v_ptr = address;
  return value;
}

// One call: its arguments on their way from PyTorch's stack to the export, and its results back.
class Frame {
 public:
  Frame(const Op& op, bool saved, Boxed* stack) : op_(op), saved_(saved), stack_(stack) {}

  // The arguments of the collection's _opcast_make for an op that it knows by this address.
  std::vector<TVMFFIAny> Arguments(void* op) {
    Inputs();
    Attributes();
    Outputs();
    std::vector<TVMFFIAny> all = {Address(op), Address(reinterpret_cast<void*>(&Allocate)),
                                  Address(this)};
    for (const int64_t n : lengths_) {
      all.push_back(Value(kTVMFFIInt));
      all.back().v_int64 = n;
    }
    for (auto* groups : {&outputs_, &inputs_}) {
      for (auto& group : *groups) {
        for (Array& array : group) {
          all.push_back(Value(kTVMFFINone));
          if (!array && array.view.ndim >= 0) continue;
          all.back() = Value(kTVMFFIDLTensorPtr);
          all.back().v_ptr = &array.view;
        }
      }
    }
    all.insert(all.end(), attrs_.begin(), attrs_.end());
    all.insert(all.end(), static_cast<size_t>(op_.scratch_count), Value(kTVMFFINone));
    return all;
  }
  // Where the call runs. A list without arrays, which the collection refuses, is nowhere.
  DLDevice device() const {
    return inputs_[0].empty() ? DLDevice{kDLCPU, 0} : inputs_[0][0].view.device;
  }

  // Puts the results onto the stack.
  void Return() {
    int at = 0;
    for (int i = 0; i < op_.output_count; ++i) {
      if (op_.outputs[i].saved && !saved_) continue;
      Arrays& group = outputs_[static_cast<size_t>(i)];
      if (op_.outputs[i].list < 0) {
        if (!group[0]) group[0] = Array::Nothing(inputs_[0][0]);
        stack_[at++] = group[0].Release();
        continue;
      }
      StableListHandle list = nullptr;
      Ok(torch_new_list_reserve_size(group.size(), &list), "list");
      for (Array& array : group) Ok(torch_list_push_back(list, array.Release()), "list");
      stack_[at++] = reinterpret_cast<Boxed>(list);
    }
  }

 private:
  using Arrays = std::vector<Array>;

  // Takes the inputs off the stack.
  void Inputs() {
    for (int i = 0; i < op_.input_count; ++i) {
      const Input& input = op_.inputs[i];
      const Boxed value = stack_[i];
      Arrays& group = inputs_.emplace_back();
      if (input.list >= 0) {
        List(reinterpret_cast<StableListHandle>(value), &group);
        lengths_.push_back(static_cast<int64_t>(group.size()));
      } else if (!input.optional) {
        group.emplace_back(reinterpret_cast<AtenTensorHandle>(value));
      } else {
        Boxed inner = 0;
        group.emplace_back(Unwrap(value, &inner) ? reinterpret_cast<AtenTensorHandle>(inner)
                                                 : nullptr);
      }
      for (Array& array : group) {
        if (array) array.Read(input.mutated ? Stride::kAny : input.stride);
      }
    }
  }

  static void List(StableListHandle list, Arrays* group) {
    size_t size = 0;
    Ok(torch_list_size(list, &size), "list");
    for (size_t i = 0; i < size; ++i) {
      Boxed item = 0;
      Ok(torch_list_get_item(list, i, &item), "list");
      group->emplace_back(reinterpret_cast<AtenTensorHandle>(item));
    }
    Ok(torch_delete_list(list), "list");
  }

  // Takes an optional value out of its box; false if there is none.
  static bool Unwrap(Boxed value, Boxed* inner) {
    auto* box = reinterpret_cast<Boxed*>(value);
    if (box == nullptr) return false;
    *inner = *box;
    delete box;  // as PyTorch's own header does for the oldest release
    return true;
  }

  void Attributes() {
    for (int i = 0; i < op_.attr_count; ++i) {
      const Attr& attr = op_.attrs[i];
      Boxed value = stack_[op_.input_count + i];
      const bool given = !attr.optional || Unwrap(value, &value);
      if (attr.kind == Attr::kDType) {
        DLDataType type = attr.fixed;
        if (given) {
          int32_t number = 0;
          std::memcpy(&number, &value, sizeof number);
          type = TypeOf(number);
        } else if (attr.like >= 0 && !inputs_[static_cast<size_t>(attr.like)].empty()) {
          type = inputs_[static_cast<size_t>(attr.like)][0].view.dtype;
        }
        chosen_.push_back({attr.carrier, type});
      } else {
        attrs_.push_back(given ? Unboxed(attr.kind, value) : Value(kTVMFFINone));
      }
    }
  }

  TVMFFIAny Unboxed(Attr::Kind kind, Boxed value) {
    TVMFFIAny out = {};
    switch (kind) {
      case Attr::kInt:
        out = Value(kTVMFFIInt);
        out.v_int64 = static_cast<int64_t>(value);
        break;
      case Attr::kFloat:
        out = Value(kTVMFFIFloat);
        std::memcpy(&out.v_float64, &value, sizeof value);
        break;
      case Attr::kBool:
        out = Value(kTVMFFIBool);
        out.v_int64 = (value & 0xff) != 0 ? 1 : 0;
        break;
      case Attr::kString:
        out = Value(kTVMFFIRawStr);
        out.v_c_str = Text(reinterpret_cast<StringHandle>(value));
        break;
      default:
        out = Value(kTVMFFIDLTensorPtr);
        out.v_ptr = Numbers(reinterpret_cast<StableListHandle>(value));
    }
    return out;
  }

  const char* Text(StringHandle handle) {
    const char* text = nullptr;
    size_t length = 0;
    Ok(torch_string_c_str(handle, &text), "str");
    Ok(torch_string_length(handle, &length), "str");
    texts_.emplace_back(text, length);
    Ok(torch_delete_string(handle), "str");
    return texts_.back().c_str();
  }

  struct Ints {
    std::vector<int64_t> values;
    int64_t count;
    DLTensor view;
  };

  DLTensor* Numbers(StableListHandle list) {
    Ints& ints = ints_.emplace_back();
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

  // Leaves the outputs that the call has to the collection.
  void Outputs() {
    for (int i = 0; i < op_.output_count; ++i) {
      const Output& output = op_.outputs[i];
      const bool there =
          (saved_ || !output.saved) &&
          (output.present_if < 0 || inputs_[static_cast<size_t>(output.present_if)][0]);
      Arrays& group = outputs_.emplace_back(
          output.list < 0 ? 1 : static_cast<size_t>(lengths_[static_cast<size_t>(output.list)]));
      for (Array& array : group) {
        array.view.ndim = there ? -1 : 0;
        for (const auto& choice : chosen_) {
          if (choice.first == i) array.view.dtype = choice.second;
        }
      }
    }
  }

  // Makes an output, or scratch, which lives as long as the call.
  static bool Allocate(void* context, DLTensor* wanted) noexcept {
    try {
      auto* frame = static_cast<Frame*>(context);
      Array* array = frame->OutputAt(wanted);
      if (array == nullptr) array = &frame->scratch_.emplace_back();
      const DLTensor copy = *wanted;
      if (!array->Make(copy)) return false;
      *wanted = array->view;
      return true;
    } catch (...) {
      return false;
    }
  }

  Array* OutputAt(const DLTensor* view) {
    for (Arrays& group : outputs_) {
      for (Array& array : group) {
        if (&array.view == view) return &array;
      }
    }
    return nullptr;
  }

  const Op& op_;
  const bool saved_;
  Boxed* const stack_;
  std::deque<Arrays> inputs_, outputs_;
  std::deque<Array> scratch_;
  std::vector<int64_t> lengths_;
  std::vector<TVMFFIAny> attrs_;
  std::vector<std::pair<int, DLDataType>> chosen_;
  std::deque<std::string> texts_;
  std::deque<Ints> ints_;
};

}  // namespace opcast_torch
