// Stores past the cache (non-temporal ones). A result that would not stay in the cache anyway costs
// less so: its lines are not read before they are written.
#pragma once

#include <cstdint>

#include "cpu/lib/vector_lanes.h"
#include "opcast/kernel.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace opcast_ops {

// Whether memory has been given to the process already. What has not is cleared when it is first
// written to, which brings it into the cache in any case.
inline bool HasPage(const void* place) {
#if defined(__linux__)
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(place) / page * page;
  unsigned char present = 1;
  return mincore(reinterpret_cast<void*>(begin), 1, &present) != 0 || (present & 1) != 0;
#else
  return place != nullptr;
#endif
}

// Whether so many arrays of n elements do not stay in the cache: one thread reaches memory almost
// as fast as the cache, several together do not, and had better share all of it.
template <class T>
inline bool ExceedsCache(const opcast::Launch& launch, int64_t n, int arrays) {
  const int64_t cache = launch.CacheBytes(), bytes = arrays * n * static_cast<int64_t>(sizeof(T));
  return cache > 0 && bytes > cache / 2 && (bytes > cache || launch.Threads() == 1);
}

// Whether a result of n elements had better be stored past the cache, in a call that reads and
// writes so many arrays like it.
template <class T>
inline bool PastCache(const opcast::Launch& launch, const T* result, int64_t n, int arrays) {
  return ExceedsCache<T>(launch, n, arrays) && HasPage(result + n - 1);
}

// Brings memory that is needed soon towards the CPU. Between rows, the CPU cannot guess it itself.
// GCC drops calls of functions that do nothing else, unless they are part of the caller first.
__attribute__((always_inline)) inline void FetchToRead(const void* place) {
  __builtin_prefetch(place, 0, 2);
}
__attribute__((always_inline)) inline void FetchToWrite(void* place) {
  __builtin_prefetch(place, 1, 2);
}

// Brings what a loop reads soon, behind `place`, next to the CPU. CPUs look ahead by themselves,
// but not far enough where each step takes long.
__attribute__((always_inline)) inline void FetchSoon(const void* place) {
  constexpr int kAhead = 512;  // bytes
  __builtin_prefetch(static_cast<const char*>(place) + kAhead, 0, 3);
}

// For each step i of a loop over an array: once in a page, fetches the first line of the page after
// the next one, so that the CPU has found out where that page lies when the loop comes to it.
template <class Fetch, class T>
__attribute__((always_inline)) inline void FetchPage(Fetch fetch, const T* array, int64_t i) {
  constexpr uintptr_t kPage = 4096;  // the smallest one; systems with larger ones need less of this
  const uintptr_t page = (reinterpret_cast<uintptr_t>(array + i) + 2 * kPage) & ~(kPage - 1);
  if (i % static_cast<int64_t>(kPage / sizeof(T)) == 0) fetch(reinterpret_cast<void*>(page));
}

#if defined(__x86_64__)
template <int kBytes>
using Bytes = std::integral_constant<int, kBytes>;

__attribute__((target(OPCAST_AVX512))) inline void StreamBytes(const void* from, void* to,
                                                               Bytes<64>) {
  _mm512_stream_si512(static_cast<__m512i*>(to), _mm512_loadu_si512(from));
}
// Of AVX alone, so that it becomes part of loops for AVX-512 as well.
__attribute__((target("avx"))) inline void StreamBytes(const void* from, void* to, Bytes<32>) {
  _mm256_stream_si256(static_cast<__m256i*>(to),
                      _mm256_loadu_si256(static_cast<const __m256i*>(from)));
}
inline void StreamBytes(const void* from, void* to, Bytes<16>) {
  _mm_stream_si128(static_cast<__m128i*>(to), _mm_loadu_si128(static_cast<const __m128i*>(from)));
}
inline void StreamBytes(const void* from, void* to, Bytes<8>) { std::memcpy(to, from, 8); }
inline void StreamBytes(const void* from, void* to, Bytes<4>) { std::memcpy(to, from, 4); }
#endif

// How many elements of an array come before the first one that Stream can begin at.
template <int kWidth, class T>
inline int64_t BeforeStream(const T* array) {
  constexpr uintptr_t kBytes = Lanes<kWidth>::kCount * sizeof(T);
  return static_cast<int64_t>(-reinterpret_cast<uintptr_t>(array) % kBytes / sizeof(T));
}

// Copies a vector's worth of elements, past the cache.
template <class T, int kCount>
inline void StreamAll(const T (&all)[kCount], T* to) {
#if defined(__x86_64__)
  StreamBytes(all, to, Bytes<sizeof all>());
#else
  std::memcpy(to, all, sizeof all);
#endif
}

// What Lanes::Store does, past the cache.
template <int kWidth, class T, class Nan>
inline void Stream(const Lanes<kWidth>& lanes, T* to, Nan nan) {
  alignas(kWidth) T all[Lanes<kWidth>::kCount];
  lanes.Store(all, nan);
  StreamAll(all, to);
}

// Must follow the last Stream of a thread, before others read what it wrote.
inline void EndStream() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace opcast_ops
