// What kernels for the CPU use of the standard library, and the instructions of x86. Each of them
// includes this header first: `opcast build` then has the compiler read it once, not for every
// kernel.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif
