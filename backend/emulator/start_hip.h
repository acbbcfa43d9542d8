// How kernels are started on an emulated device of AMD's: as in a unit that clang has compiled for
// HIP, by the same function of the runtime.
#pragma once

#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "hip_kernel.h"
#include "opcast/start_hip.h"
#include "run.h"

namespace opcast::device {

// What calls functions of these parameters. For the emulated HIP this is a kernel, and the function
// is its first argument: the runtime wants to know kernels when the library is loaded, and which
// functions Start will be given, nobody knows then.
template <class... Parameters>
class Caller {
 public:
  static const void* Kernel() { return unit_ == nullptr ? nullptr : &kernel_; }

 private:
  using Function = void (*)(Parameters...);
  using Arguments = std::tuple<Function, Parameters...>;

  template <size_t... kIndex>
  static Arguments Copied(void** arguments, std::index_sequence<kIndex...>) {
    return Arguments(*static_cast<std::tuple_element_t<kIndex, Arguments>*>(arguments[kIndex])...);
  }

  template <class T>
  static void AddPointer(const T& value, std::vector<const void*>* pointers) {
    if constexpr (std::is_pointer_v<T> && std::is_object_v<std::remove_pointer_t<T>>)
      pointers->push_back(value);
  }

  static void Fill(void** arguments, EmulatedLaunch* launch, std::vector<const void*>* pointers) {
    const Arguments values =
        Copied(arguments, std::make_index_sequence<std::tuple_size_v<Arguments>>());
    std::apply([&](const auto&... v) { (AddPointer(v, pointers), ...); }, values);
    Bind(
        [values] {
          std::apply([](Function function, const Parameters&... v) { function(v...); }, values);
        },
        launch);
  }

  static void** Register() {
    void** const unit = __hipRegisterFatBinary(&kernel_);
    char name[] = "kernel";
    __hipRegisterFunction(unit, &kernel_, name, name, 0, nullptr, nullptr, nullptr, nullptr,
                          nullptr);
    return unit;
  }

  static constexpr EmulatedKernel kernel_{Fill};
  static void** const unit_;
};

template <class... Parameters>
void** const Caller<Parameters...>::unit_ = Register();

template <class... Parameters>
Status Start(const StartOptions& options, void (*kernel)(Parameters...), dim3 grid, dim3 block,
             size_t shared, const Launch& launch, Parameters... values) {
  void* arguments[] = {&kernel, const_cast<void*>(static_cast<const void*>(&values))...};
  return StartKernel(options, Caller<Parameters...>::Kernel(), grid, block, arguments, shared,
                     launch.stream);
}

}  // namespace opcast::device
