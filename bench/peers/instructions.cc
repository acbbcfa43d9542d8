// Calls rms_norm of the collection's library a number of times, so that valgrind may count the
// instructions of a call: instructions LIBRARY TIMES.
#include <dlfcn.h>
#include <tvm/ffi/c_api.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kRows = 4, kColumns = 16;

TVMFFIAny Pass(DLTensor& t) {
  TVMFFIAny any{};
  any.type_index = kTVMFFIDLTensorPtr;
  any.v_ptr = &t;
  return any;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  void* library = dlopen(words[1], RTLD_NOW);
  void* found = library == nullptr ? nullptr : dlsym(library, "__tvm_ffi_rms_norm");
  if (found == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const auto kernel = reinterpret_cast<TVMFFISafeCallType>(found);
  alignas(64) static float x[kRows * kColumns], y[kRows * kColumns], weight[kColumns];
  for (float& v : x) v = 1;
  for (float& v : weight) v = 1;
  int64_t sizes[] = {kRows, kColumns}, strides[] = {kColumns, 1};
  const auto tensor = [&](float* data, int rank) {
    return DLTensor{
        data, {kDLCPU, 0}, rank, {kDLFloat, 32, 1}, sizes + 2 - rank, strides + 2 - rank, 0};
  };
  DLTensor views[] = {tensor(y, 2), tensor(x, 2), tensor(weight, 1)};
  TVMFFIAny args[] = {Pass(views[0]), Pass(views[1]), Pass(views[2]), {}};
  args[3].type_index = kTVMFFIFloat;
  args[3].v_float64 = 1e-6;
  for (int i = std::atoi(words[2]); i > 0; --i) {
    TVMFFIAny result{};
    if (kernel(nullptr, args, 4, &result) != 0) return 1;
  }
  return 0;
}
