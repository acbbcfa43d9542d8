// What CUDA's runtime has for C++ only: launches of typed kernels.
#pragma once

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda_runtime_api.h"

namespace emulator {

// Launches what `body` does for each thread.
cudaError_t Launch(const cudaLaunchConfig_t& config, const void* kernel,
                   const std::vector<const void*>& pointers, std::function<void()> body);

template <class T>
void AddPointer(const T& value, std::vector<const void*>* pointers) {
  if constexpr (std::is_pointer_v<T>) pointers->push_back(value);
}

}  // namespace emulator

template <class... Parameters, class... Values>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Values&&... given) {
  const std::tuple<Parameters...> values(std::forward<Values>(given)...);
  std::vector<const void*> pointers;
  std::apply([&](const auto&... v) { (emulator::AddPointer(v, &pointers), ...); }, values);
  return emulator::Launch(*config, reinterpret_cast<const void*>(kernel), pointers,
                          [kernel, values] { std::apply(kernel, values); });
}
