// Loops over several threads, compiled for several vector widths.
#pragma once

#include <cstdint>
#include <type_traits>

#include "opcast/launch.h"

#define OPCAST_AVX2 "avx2,fma,f16c"
// GCC fills only half of an AVX-512 register unless told otherwise.
#if defined(__clang__)
#define OPCAST_AVX512 "avx512f,avx512bw,avx512dq,avx512vl"
#else
#define OPCAST_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"
#endif

namespace opcast {
namespace detail {

// A loop body with its type erased.
using Body = void (*)(void* closure, int64_t begin, int64_t end);

// The vector extensions that kernels may use, narrowest first. Bodies are compiled for all but the
// last, which differs from the one before by HasBf16Dot.
enum class Simd { kBaseline, kAvx2, kAvx512, kAvx512Bf16 };
#if defined(__x86_64__)
constexpr const char* kSimdNames[] = {"sse2", "avx2", "avx512", "avx512_bf16"};
#else
constexpr const char* kSimdNames[] = {"baseline", "", "", ""};
#endif

// The narrowest that bodies are compiled for: `opcast build --native` leaves out what its machine
// does not need, which halves the time of the compiler.
#if defined(OPCAST_NARROWEST)
constexpr Simd kNarrowest = Simd::OPCAST_NARROWEST;
#else
constexpr Simd kNarrowest = Simd::kBaseline;
#endif

// The extension that all loops of this process use: the widest of this machine, or the one that the
// variable NAME_ISA of the environment asks for. Throws std::invalid_argument for one that the
// machine or the library lacks, and std::runtime_error if they have none in common.
Simd BestSimd();

// Calls body for [0, n) in chunks of `grain`, on the pool if there is more than one. See
// ParallelFor.
void RunChunks(int64_t n, int64_t grain, Body body, void* closure);

template <class F, int kWidth>
inline void Call(void* closure, int64_t begin, int64_t end) {
  F& f = *static_cast<F*>(closure);
  using Width = std::integral_constant<int, kWidth>;
  if constexpr (std::is_invocable_v<F&, int64_t, int64_t, Width>) {
    f(begin, end, Width());
  } else {
    f(begin, end);
  }
}

// One loop body for each vector width. `flatten` inlines the loop into a function that the compiler
// may vectorise with wider instructions than the rest of the library. For the narrowest of several
// the compiler decides what to inline, for that takes it far less time: SSE2 has no instruction for
// much of what is inlined. The build never contracts a
// multiplication and an addition, and compilers do not reassociate: so only loops that ask for the
// width can give other bits for another one.
template <class F>
struct Bodies {
#if defined(__x86_64__) && !defined(__CUDACC__) && !defined(__HIPCC__)
  static void Baseline(void* closure, int64_t begin, int64_t end) {
    Call<F, 16>(closure, begin, end);
  }
  __attribute__((flatten, target(OPCAST_AVX2))) static void Avx2(void* closure, int64_t begin,
                                                                 int64_t end) {
    Call<F, 32>(closure, begin, end);
  }
  __attribute__((flatten, target(OPCAST_AVX512))) static void Avx512(void* closure, int64_t begin,
                                                                     int64_t end) {
    Call<F, 64>(closure, begin, end);
  }
  static Body Best() {
    const Simd simd = BestSimd();
    if constexpr (kNarrowest < Simd::kAvx512) {
      if (simd == Simd::kAvx2) return Avx2;
    }
    if constexpr (kNarrowest < Simd::kAvx2) {
      if (simd == Simd::kBaseline) return Baseline;
    }
    return Avx512;
  }
#else
  __attribute__((flatten)) static void Baseline(void* closure, int64_t begin, int64_t end) {
    Call<F, 16>(closure, begin, end);
  }
  static Body Best() { return Baseline; }
#endif
};

}  // namespace detail

// Whether kernels of this process use the instructions for dot products of bfloat16. They need the
// target "avx512bf16" beside those of a body for vectors of 64 bytes: a function of its own.
inline bool HasBf16Dot() { return detail::BestSimd() == detail::Simd::kAvx512Bf16; }

// Calls f(begin, end) for consecutive chunks of [0, n), each `grain` long but the last, on several
// threads, and returns when all are done. f may take a third argument, a std::integral_constant
// with the width in bytes of the vectors that it is being compiled for. The chunks depend on n and
// grain only, so what f computes from its range does not depend on the number of threads. When f
// throws, no more chunks begin and the first exception is rethrown here.
//
// A loop of one chunk is a call of f in the caller, and what f calls is as free as the caller. A
// loop of several chunks shares them out, and every loop inside of one of these runs in the thread
// of that chunk alone.
//
// At most NumThreads() of threads.h take part, the caller included.
template <class F>
void ParallelFor(const Launch&, int64_t n, int64_t grain, F&& f) {
  using Closure = std::remove_reference_t<F>;
  detail::RunChunks(n, grain, detail::Bodies<Closure>::Best(),
                    const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace opcast
