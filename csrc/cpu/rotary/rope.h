// Turning pairs of columns of heads, for rope and its gradient.
//
// y[j] = x[j] * cosine[j] + partner of x[j] * sine[j] for the first columns of each head; the
// others are copied. Computed in double, where the products of floats are exact, so that a
// difference of two is right however much of them cancels, and rounded to float and to the result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "common/rope.h"
#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"

namespace opcast_ops {

// The factors of one position.
class Angles {
 public:
  explicit Angles(int64_t width) : width_(width), space_(2 * width) {}

  template <class C>
  void Read(const Turns<C>& turns, int64_t token) {
    const int64_t half = width_ / 2;
    const C *const cosines = turns.Cosines(token), *const sines = cosines + half;
    const float sign = turns.back ? -1.0f : 1.0f;
    float *const cosine = space_.Floats(), *const sine = cosine + width_;
    const int64_t step = turns.interleave ? 2 : 1, second = turns.interleave ? 1 : half;
    for (int64_t j = 0; j < half; ++j) {
      cosine[j * step] = cosine[j * step + second] = static_cast<float>(cosines[j]);
      sine[j * step + second] = sign * static_cast<float>(sines[j]);
      sine[j * step] = -sine[j * step + second];
    }
  }

  const float* Cosines() const { return space_.Floats(); }
  const float* Sines() const { return space_.Floats() + width_; }

 private:
  const int64_t width_;
  const FloatSpace space_;
};

template <int kWidth, class T>
inline void Turn(int64_t n, const float* cosines, const float* sines, const T* x, const T* partners,
                 T* y) {
  const auto f = [](double x, double partner, double cosine, double sine) {
    return x * cosine + partner * sine;
  };
  Map<kWidth>(n, f, y, x, partners, cosines, sines);
}

// Turns the heads of one token. `swapped` has room for the columns that are turned.
template <int kWidth, class T>
inline void TurnHeads(const Heads<T>& heads, const Angles& angles, int64_t token, int64_t columns,
                      int64_t width, T* swapped) {
  const float *const cosines = angles.Cosines(), *const sines = angles.Sines();
  const int64_t half = width / 2;
  for (int64_t h = 0; h < heads.count; ++h) {
    const T* const x = heads.from + token * heads.token_stride + h * heads.head_stride;
    T* const y = heads.to + (token * heads.count + h) * columns;
    if (swapped != nullptr) {
      for (int64_t j = 0; j < width; j += 2) swapped[j] = x[j + 1], swapped[j + 1] = x[j];
      Turn<kWidth>(width, cosines, sines, x, swapped, y);
    } else {
      Turn<kWidth>(half, cosines, sines, x, x + half, y);
      Turn<kWidth>(half, cosines + half, sines + half, x + half, x, y + half);
    }
    if (columns > width)
      std::memcpy(y + width, x + width, static_cast<size_t>(columns - width) * sizeof(T));
  }
}

// Turns the heads of two arrays, of `columns` each.
template <class T, class C>
opcast::Status Turn(const opcast::Launch& launch, int64_t tokens, int64_t columns,
                    const Turns<C>& turns, const Heads<T>& first, const Heads<T>& second) {
  const auto rows = [&](int64_t begin, int64_t end, auto width) {
    Angles angles(turns.width);
    const std::unique_ptr<T[]> swapped(turns.interleave ? new T[turns.width] : nullptr);
    for (int64_t i = begin; i < end; ++i) {
      angles.Read(turns, i);
      TurnHeads<width>(first, angles, i, columns, turns.width, swapped.get());
      TurnHeads<width>(second, angles, i, columns, turns.width, swapped.get());
    }
  };
  const int64_t numbers = (first.count + second.count) * columns;
  opcast::ParallelFor(launch, tokens, RowsPerChunk(numbers), rows);
  return opcast::Status::Ok();
}

// rope.cc has these, for rope_backward.cc, too.
#define OPCAST_TURN(T, C)                                                                \
  template opcast::Status Turn(const opcast::Launch&, int64_t, int64_t, const Turns<C>&, \
                               const Heads<T>&, const Heads<T>&)
extern OPCAST_TURN(float, float);
extern OPCAST_TURN(opcast::f16, float);
extern OPCAST_TURN(opcast::f16, opcast::f16);
extern OPCAST_TURN(opcast::bf16, float);
extern OPCAST_TURN(opcast::bf16, opcast::bf16);

}  // namespace opcast_ops
