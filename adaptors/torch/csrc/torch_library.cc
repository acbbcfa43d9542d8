// Enters the ops into PyTorch's registry.
#include <torch/csrc/stable/c/shim.h>

#include <string>

#include "torch_call.h"

namespace opcast_torch {
namespace {

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

bool Registered() { return registration.done; }

}  // namespace opcast_torch
