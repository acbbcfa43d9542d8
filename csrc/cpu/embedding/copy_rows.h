// Copies of whole rows that lie anywhere, as lists of rows name them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cpu/lib/streaming_stores.h"

namespace opcast_ops {

// Asks for a row of n numbers, of which the CPU cannot guess that it comes next; no more of it than
// the cache has room for beside others.
template <class T>
inline void FetchRow(const T* row, int64_t n) {
  constexpr int64_t kLine = 64, kMost = 1 << 12;
  const auto* const bytes = reinterpret_cast<const char*>(row);
  const int64_t count = std::min(kMost, n * static_cast<int64_t>(sizeof(T)));
  for (int64_t i = 0; i < count; i += kLine) FetchToRead(bytes + i);
}

// Copies a row of n numbers, past the cache if wanted: EndStream must follow the last one of a
// thread then.
template <int kWidth, class T>
inline void CopyRow(const T* from, int64_t n, [[maybe_unused]] bool past, T* to) {
  auto bytes = static_cast<size_t>(n) * sizeof(T);
#if defined(__x86_64__)
  if (past) {
    const auto* source = reinterpret_cast<const char*>(from);
    auto* target = reinterpret_cast<char*>(to);
    const size_t before =
        std::min<size_t>(bytes, -reinterpret_cast<uintptr_t>(to) % uintptr_t{kWidth});
    std::memcpy(target, source, before);
    size_t i = before;
    for (; i + kWidth <= bytes; i += kWidth) StreamBytes(source + i, target + i, Bytes<kWidth>());
    std::memcpy(target + i, source + i, bytes - i);
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace opcast_ops
