// Runs the compiled package of aoti.py in a process without Python, and compares the bits of its
// result.
#include <ATen/ops/empty.h>
#include <dlfcn.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

namespace {

std::vector<char> Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

// Arguments: the folder, and libraries to open first.
int main(int argc, char** argv) {
  for (int i = 2; i < argc; ++i) {
    if (dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL) != nullptr) continue;
    std::cerr << dlerror() << "\n";
    return 2;
  }
  try {
    const std::string folder = argv[1];
    torch::inductor::AOTIModelPackageLoader loader(folder + "/model.pt2");
    const std::vector<char> given = Read(folder + "/given.bin"),
                            want = Read(folder + "/wanted.bin");
    at::Tensor x = at::empty({4, 16});
    std::memcpy(x.data_ptr(), given.data(), x.nbytes());
    const at::Tensor y = loader.run({x})[0].contiguous();
    const bool same =
        want.size() == y.nbytes() && std::memcmp(want.data(), y.data_ptr(), want.size()) == 0;
    const bool python = dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr;
    std::cout << (same ? "same bits" : "other bits")
              << (python ? ", with Python" : ", without Python") << "\n";
  } catch (const std::exception& error) {
    std::cout << error.what() << "\n";
    return 1;
  }
}
