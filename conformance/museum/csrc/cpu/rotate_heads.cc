#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../bug.h"
#include "../numbers.h"
#include "rotate_heads.gen.h"

namespace museum_ops {
namespace {

struct Angles {
  std::vector<double> c, s;
};

// Turns the pairs of a head, whose second elements begin at half.
template <class T>
void Turn(T* x, const Angles& angles, int64_t half, bool interleave, std::vector<T>* turned) {
  const auto pairs = static_cast<int64_t>(angles.c.size());
  int64_t step = std::max<int64_t>(pairs, 1);
  if (BUG("NVIDIA/Megatron-LM#5981",
          "A warp wrote its pairs in another order before the next one had read its own from "
          "there.")) {
    step = 32;
  }
  for (int64_t first = 0; first < pairs; first += step) {
    const int64_t end = std::min(first + step, pairs);
    for (int64_t i = first; i < end; ++i) {
      const double a = Widen(x[i]), b = Widen(x[half + i]);
      (*turned)[2 * i] = Narrow<T>(a * angles.c[i] - b * angles.s[i]);
      (*turned)[2 * i + 1] = Narrow<T>(b * angles.c[i] + a * angles.s[i]);
    }
    for (int64_t i = first; i < end; ++i) {
      x[interleave ? 2 * i : i] = (*turned)[2 * i];
      x[interleave ? 2 * i + 1 : half + i] = (*turned)[2 * i + 1];
    }
  }
}

template <class I>
int64_t Position(const I* positions, int64_t n) {
  if (BUG("flashinfer-ai/flashinfer#1129",
          "Positions of 64 bits were read by a pointer to integers of 32 bits.")) {
    int32_t position;
    std::memcpy(&position, reinterpret_cast<const char*>(positions) + n * 4, 4);
    return position;
  }
  return static_cast<int64_t>(positions[n]);
}

template <class T>
void SetAngles(const float* frequency, int64_t position, Angles* angles) {
  for (size_t i = 0; i < angles->c.size(); ++i) {
    double each = Widen(frequency[i]);
    if (BUG("sgl-project/sglang-jax#1473",
            "Frequencies were rounded to the dtype of the heads before positions multiplied "
            "them.")) {
      each = Widen(Narrow<T>(each));
    }
    angles->c[i] = std::cos(static_cast<double>(position) * each);
    angles->s[i] = std::sin(static_cast<double>(position) * each);
  }
}

}  // namespace

opcast::Status RotateHeads(const RotateHeadsArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    constexpr int64_t kTile = 256;
    int64_t tile[kTile] = {}, half = a.R, q_token = a.q_layout.Stride(-3);
    if (BUG("pie-project/pie#603",
            "The second elements of pairs were looked for in the middle of the head, of which only "
            "a part turns.")) {
      half = a.D / 2;
    }
    if (BUG("vllm-project/vllm#17091",
            "Queries were taken to follow each other densely, though they were a slice of a larger "
            "array.")) {
      q_token = a.HQ * a.D;
    }
    Angles angles{std::vector<double>(a.R), std::vector<double>(a.R)};
    std::vector<T> turned(2 * a.R);
    for (int64_t n = 0; n < a.N; ++n) {
      int64_t position = tile[0];
      if (n % kTile == 0) {
        for (int64_t i = 0; i < std::min(kTile, a.N - n); ++i)
          tile[i] = Position(a.positions, n + i);
      }
      if (n == 0 || n % kTile != 0 ||
          !BUG("vllm-project/vllm-ascend#16699",
               "From the second tile of tokens on, a position was read before it had been "
               "loaded.")) {
        position = tile[n % kTile];
      }
      SetAngles<T>(a.frequency, position, &angles);
      for (int64_t h = 0; h < a.HQ; ++h) {
        Turn(a.q + n * q_token + h * a.q_layout.Stride(-2), angles, half, a.interleave, &turned);
      }
      for (int64_t h = 0; h < a.HK; ++h) {
        Turn(a.k + n * a.k_layout.Stride(-3) + h * a.k_layout.Stride(-2), angles, half,
             a.interleave, &turned);
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
