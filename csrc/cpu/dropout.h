// What dropout does to numbers, and to their gradients.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/philox.h"
#include "lanes.h"
#include "rows.h"

namespace opcast_ops {

// Which numbers of a stream are kept, and the factor of these.
struct Drop {
  RandomStream stream;
  int32_t least;  // the uniform integers from here on
  float scale;

  template <class I>
  Drop(const I* seed, double p)
      : stream(seed),
        least(static_cast<int32_t>(std::ceil(p * kUniforms))),
        scale(p < 1 ? static_cast<float>(1 / (1 - p)) : 0) {}
};

// to[i] = x[i] * scale for numbers begin to end - 1 that are kept, else 0; begin is a multiple
// of 4.
template <int kWidth, class T>
inline void DropSome(const Drop& drop, int64_t begin, int64_t end, const T* x, T* to) {
  constexpr int kLanes = Lanes<kWidth>::kCount, kStep = 4 * kLanes;
  for (int64_t i = begin; i < end; i += kStep) {
    int32_t uniforms[kStep];
#pragma GCC unroll 1
    for (int j = 0; j < kLanes; ++j) {
      const RandomBlock block = drop.stream.BlockAt(i / 4 + j);
      for (int word = 0; word < 4; ++word) uniforms[4 * j + word] = Uniform(block.at[word]);
    }
    for (int part = 0; part < 4 && i + part * kLanes < end; ++part) {
      const int64_t at = i + part * kLanes, count = std::min<int64_t>(kLanes, end - at);
      auto lanes = LoadSome<kWidth>(x + at, count);
#pragma GCC unroll 1
      for (int j = 0; j < kLanes; ++j) {
        const bool keep = uniforms[part * kLanes + j] >= drop.least;
        lanes.numbers[j] = Select(keep, lanes.numbers[j] * drop.scale, 0.0f);
      }
      lanes.StoreSome(to + at, count);
    }
  }
}

template <class T, class I>
inline opcast::Status DropAll(const opcast::Launch& launch, const I* seed, double p, int64_t n,
                              const T* x, T* to) {
  const Drop drop(seed, p);
  const auto some = [=](int64_t begin, int64_t end, auto width) {
    DropSome<width>(drop, begin, end, x, to);
  };
  opcast::ParallelFor(launch, n, kChunk / 4, some);
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
