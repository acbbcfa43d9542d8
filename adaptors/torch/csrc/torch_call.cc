#include "torch_call.h"

#include <dlfcn.h>
#include <tvm/ffi/extra/c_env_api.h>

#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "torch_array.h"

namespace opcast_torch {
namespace {

// The collection: its functions _opcast_op and _opcast_make.
struct Collection {
  TVMFFISafeCallType find = nullptr;
  TVMFFISafeCallType make = nullptr;
};
Collection collection;
std::mutex binding;

TVMFFIAny Value(int32_t type) {
  TVMFFIAny value = {};
  value.type_index = type;
  return value;
}

TVMFFIAny Address(void* address) {
  TVMFFIAny value = Value(address == nullptr ? kTVMFFINone : kTVMFFIOpaquePtr);
  value.v_ptr = address;
  return value;
}

// Throws the error that an export raised on this thread, as "Class: text": PyTorch knows no classes
// but its own. The error stays raised, for who can take it as it is.
[[noreturn]] void Raise() {
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == nullptr) throw std::runtime_error("RuntimeError: unknown error");
  const auto* cell = reinterpret_cast<const TVMFFIErrorCell*>(static_cast<const char*>(error) +
                                                              sizeof(TVMFFIObject));
  const std::string text = std::string(cell->kind.data, cell->kind.size) + ": " +
                           std::string(cell->message.data, cell->message.size);
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
  throw std::runtime_error(text);
}

// Opens the collection's library: the one beside this file, else the one that the loader finds.
void Open() {
  Dl_info self = {};
  std::string beside;
  if (dladdr(reinterpret_cast<void*>(&Open), &self) != 0 && self.dli_fname != nullptr) {
    const std::string path = self.dli_fname;
    beside = path.substr(0, path.rfind('/') + 1) + kLibrary;
  }
  void* library = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw std::runtime_error(std::string("ImportError: ") + (why == nullptr ? kLibrary : why));
  }
  collection.find = reinterpret_cast<TVMFFISafeCallType>(dlsym(library, "__tvm_ffi__opcast_op"));
  collection.make = reinterpret_cast<TVMFFISafeCallType>(dlsym(library, "__tvm_ffi__opcast_make"));
}

// Asks the collection for an op.
void* Find(int index) {
  const std::lock_guard<std::mutex> lock(binding);
  if (known[index] != nullptr) return known[index];
  if (collection.make == nullptr) Open();
  TVMFFIAny arguments[2] = {Value(kTVMFFIRawStr), Value(kTVMFFIInt)}, result = {};
  arguments[0].v_c_str = kOps[index].name;
  arguments[1].v_int64 = kOps[index].definition;
  if (collection.find == nullptr || collection.find(nullptr, arguments, 2, &result) != 0) Raise();
  if (result.type_index != kTVMFFIOpaquePtr) {
    throw std::runtime_error(std::string("ImportError: ") + kOps[index].name + ": " + kLibrary +
                             " comes from another definition: run `opcast build` again");
  }
  __atomic_store_n(&known[index], result.v_ptr, __ATOMIC_RELEASE);
  return result.v_ptr;
}

// Makes PyTorch's current stream the one that exports find in tvm-ffi's environment, as long as
// this lives.
class CurrentStream {
 public:
  explicit CurrentStream(DLDevice device) : device_(device) {
    if (device_.device_type == kDLCPU) return;
    using Get = AOTITorchError (*)(int32_t, void**);
    // libtorch_cuda has it, which need not be there.
    static const Get get =
        reinterpret_cast<Get>(dlsym(RTLD_DEFAULT, "aoti_torch_get_current_cuda_stream"));
    void* stream = nullptr;
    if (get != nullptr) Ok(get(device_.device_id, &stream), "RuntimeError: no current stream");
    if (TVMFFIEnvSetStream(device_.device_type, device_.device_id, stream, &before_) != 0) Raise();
    set_ = true;
  }
  CurrentStream(const CurrentStream&) = delete;
  CurrentStream& operator=(const CurrentStream&) = delete;
  ~CurrentStream() {
    if (set_) TVMFFIEnvSetStream(device_.device_type, device_.device_id, before_, nullptr);
  }

 private:
  const DLDevice device_;
  TVMFFIStreamHandle before_ = nullptr;
  bool set_ = false;
};

// One call: its arguments on their way from PyTorch's stack to the export, and its results back.
class Frame {
 public:
  Frame(const Op& op, bool saved, Boxed* stack) : op_(op), saved_(saved), stack_(stack) {}

  void Run(void* op) {
    Inputs();
    Attributes();
    Outputs();
    std::vector<TVMFFIAny> arguments = {Address(op), Address(reinterpret_cast<void*>(&Allocate)),
                                        Address(this)};
    for (const int64_t n : lengths_) {
      arguments.push_back(Value(kTVMFFIInt));
      arguments.back().v_int64 = n;
    }
    for (auto* groups : {&outputs_, &inputs_}) {
      for (auto& group : *groups) {
        for (Array& array : group) {
          arguments.push_back(Value(kTVMFFINone));
          if (!array && array.view.ndim >= 0) continue;
          arguments.back() = Value(kTVMFFIDLTensorPtr);
          arguments.back().v_ptr = &array.view;
        }
      }
    }
    arguments.insert(arguments.end(), attrs_.begin(), attrs_.end());
    arguments.insert(arguments.end(), static_cast<size_t>(op_.scratch_count), Value(kTVMFFINone));
    const CurrentStream stream(inputs_[0][0].view.device);
    TVMFFIAny result = {};
    const auto count = static_cast<int32_t>(arguments.size());
    if (collection.make(nullptr, arguments.data(), count, &result) != 0) Raise();
    Return();
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
        } else if (attr.like >= 0) {
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

// Enters all ops into PyTorch's registry when the library is loaded.
struct Registration {
  Registration() {
    TorchLibraryHandle library = nullptr;
    if (aoti_torch_library_init_fragment(kNamespace, __FILE__, __LINE__, &library) != 0) return;
    for (int i = 0; i < kOpCount; ++i) {
      if (aoti_torch_library_def(library, kOps[i].schema) != 0) return;
      if (kOps[i].train != nullptr && aoti_torch_library_def(library, kOps[i].train) != 0) return;
    }
    for (const char* device : {"CPU", "CUDA"}) {
      TorchLibraryHandle kernels = nullptr;
      if (aoti_torch_library_init_impl(kNamespace, device, __FILE__, __LINE__, &kernels) != 0)
        return;
      for (int i = 0; i < kOpCount; ++i) {
        const std::string name = kOps[i].name;
        if (torch_library_impl(kernels, name.c_str(), kOps[i].kernel, TORCH_ABI_VERSION) != 0)
          return;
        if (kOps[i].train == nullptr) continue;
        const std::string train = name + ".train";
        if (torch_library_impl(kernels, train.c_str(), kOps[i].train_kernel, TORCH_ABI_VERSION) !=
            0)
          return;
      }
    }
    done = true;
  }
  bool done = false;
};
const Registration registration;

}  // namespace

void Call(int index, bool saved, Boxed* stack) {
  void* op = __atomic_load_n(&known[index], __ATOMIC_ACQUIRE);
  if (op == nullptr) op = Find(index);
  Frame(kOps[index], saved, stack).Run(op);
}

}  // namespace opcast_torch

// Gives the library the functions of its collection. The result says whether its ops are in
// PyTorch's registry, which has no place for the ops of two libraries of one namespace.
extern "C" __attribute__((visibility("default"))) bool opcast_torch_bind(void* find, void* make) {
  const std::lock_guard<std::mutex> lock(opcast_torch::binding);
  opcast_torch::collection = {reinterpret_cast<TVMFFISafeCallType>(find),
                              reinterpret_cast<TVMFFISafeCallType>(make)};
  return opcast_torch::registration.done;
}
