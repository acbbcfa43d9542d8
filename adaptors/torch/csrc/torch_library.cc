// Enters the ops into PyTorch's registry.
#include <torch/csrc/stable/c/shim.h>

#include <cstring>
#include <string>

#include "torch_call.h"

namespace opcast_torch {
namespace {

// An overload of an op. The package for Python gives those with an empty name and "train" the
// derivatives and the rest that PyTorch asks of an op; `direct` and `into` are what it calls where
// nobody asks, `numbers` likewise where numbers take the place of tensors, `node` where it follows
// derivatives itself, and `compiled` is what graphs of torch.compile call.
struct Overload {
  const char* name;
  Form form;
};
constexpr Overload kOverloads[] = {
    {"", Form::kPlain},      {"direct", Form::kPlain},         {"compiled", Form::kPlain},
    {"train", Form::kTrain}, {"compiled_train", Form::kTrain}, {"node", Form::kTrain},
    {"into", Form::kInto},   {"numbers", Form::kNumbers},
};

// The form of an overload, which returns all results for `node`; without a kernel if there is none.
const Entry& EntryOf(const Op& op, const Overload& overload) {
  const Entry& entry = op.entries[static_cast<int>(overload.form)];
  const bool all = entry.kernel == nullptr && std::strcmp(overload.name, "node") == 0;
  return all ? op.entries[static_cast<int>(Form::kPlain)] : entry;
}

// Calls `enter` for all overloads that there are; false once it fails.
template <class F>
bool Each(const F& enter) {
  for (int i = 0; i < kOpCount; ++i) {
    for (const Overload& overload : kOverloads) {
      const Entry& entry = EntryOf(kOps[i], overload);
      if (entry.kernel == nullptr) continue;
      const std::string name = std::string(kOps[i].name) + (*overload.name == '\0' ? "" : ".");
      if (!enter(entry, name + overload.name)) return false;
    }
  }
  return true;
}

bool Define() {
  TorchLibraryHandle library = nullptr;
  if (aoti_torch_library_init_fragment(opcast_torch_namespace, __FILE__, __LINE__, &library) != 0)
    return false;
  return Each([library](const Entry& entry, const std::string& name) {
    return aoti_torch_library_def(library, (name + entry.signature).c_str()) == 0;
  });
}

bool Implement(const char* device) {
  TorchLibraryHandle library = nullptr;
  if (aoti_torch_library_init_impl(opcast_torch_namespace, device, __FILE__, __LINE__, &library) !=
      0) {
    return false;
  }
  return Each([library](const Entry& entry, const std::string& name) {
    return torch_library_impl(library, name.c_str(), entry.kernel, TORCH_ABI_VERSION) == 0;
  });
}

// When the library is loaded.
const bool registered = Define() && Implement("CPU") && Implement("CUDA");

}  // namespace

bool Registered() { return registered; }

}  // namespace opcast_torch
