// Runs tests of loops for each width of vectors that this machine has.
#pragma once

#include <type_traits>

#include "opcast/parallel.h"

namespace opcast_ops {

#if defined(__x86_64__)
template <class Test>
__attribute__((flatten, target(OPCAST_AVX2))) void TestAvx2(Test test) {
  test(std::integral_constant<int, 32>());
}
template <class Test>
__attribute__((flatten, target(OPCAST_AVX512))) void TestAvx512(Test test) {
  test(std::integral_constant<int, 64>());
}
#endif

// Calls test(width) with a std::integral_constant, compiled for the instructions of the width.
template <class Test>
void ForEachWidth(Test test) {
  test(std::integral_constant<int, 16>());
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c"))
    TestAvx2(test);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    TestAvx512(test);
#endif
}

}  // namespace opcast_ops
