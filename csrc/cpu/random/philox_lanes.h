// Numbers of a random stream (see common/philox.h), several blocks side by side.
//
// Each word of a block lies in the lower half of a lane of 64 bits, since products are twice as
// long as their factors. Nothing reads what is in the upper halves before that is cut off.
#pragma once

#include <cstdint>

#include "common/philox.h"
#include "cpu/lib/float_conversion.h"
#include "cpu/lib/float_vectors.h"

namespace opcast_ops {

// Compares as many numbers at a time as four vectors have floats.
template <int kWidth>
class UniformLanes {
 public:
  explicit UniformLanes(const RandomStream& stream) : stream_(stream) {}

  // Bit i says whether number 4 n + i of the stream is at least `least`, as an integer: see
  // Uniform.
  uint64_t AtLeast(int32_t least, int64_t n) const {
    uint64_t bits = 0;
    for (int i = 0; i < kWidth; i += 4) {
      const RandomBlock block = stream_.BlockAt(n + i / 4);
      for (int word = 0; word < 4; ++word)
        bits |= static_cast<uint64_t>(Uniform(block.at[word]) >= least) << (i + word);
    }
    return bits;
  }

 private:
  const RandomStream stream_;
};

#if defined(__x86_64__)

template <int kWidth>
struct WordLanes {
  typedef uint64_t Vector __attribute__((vector_size(kWidth)));
  static constexpr int kCount = kWidth / static_cast<int>(sizeof(uint64_t));

  Vector all;

  void Fill(uint64_t x) { all = Vector{} + x; }
};

// *words = x, x + 1, ...
inline void Count(uint64_t x, WordLanes<32>* words) {
  words->all = WordLanes<32>::Vector{0, 1, 2, 3} + x;
}
inline void Count(uint64_t x, WordLanes<64>* words) {
  words->all = WordLanes<64>::Vector{0, 1, 2, 3, 4, 5, 6, 7} + x;
}

// *product = that of the lower halves.
__attribute__((target(OPCAST_AVX2))) inline void MultiplyWords(const WordLanes<32>& x,
                                                               const WordLanes<32>& y,
                                                               WordLanes<32>* product) {
  product->all = reinterpret_cast<WordLanes<32>::Vector>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(x.all), reinterpret_cast<__m256i>(y.all)));
}
__attribute__((target(OPCAST_AVX512))) inline void MultiplyWords(const WordLanes<64>& x,
                                                                 const WordLanes<64>& y,
                                                                 WordLanes<64>* product) {
  product->all = reinterpret_cast<WordLanes<64>::Vector>(_mm512_maskz_mul_epu32(
      0xff, reinterpret_cast<__m512i>(x.all), reinterpret_cast<__m512i>(y.all)));
}

// *mixed = the upper halves of x, mixed with two others.
__attribute__((target(OPCAST_AVX2))) inline void MixUpper(const WordLanes<32>& x,
                                                          const WordLanes<32>& y,
                                                          const WordLanes<32>& z,
                                                          WordLanes<32>* mixed) {
  mixed->all = (x.all >> 32) ^ y.all ^ z.all;
}
__attribute__((target(OPCAST_AVX512))) inline void MixUpper(const WordLanes<64>& x,
                                                            const WordLanes<64>& y,
                                                            const WordLanes<64>& z,
                                                            WordLanes<64>* mixed) {
  constexpr int kXorOfThree = 0x96;
  mixed->all = reinterpret_cast<WordLanes<64>::Vector>(_mm512_ternarylogic_epi64(
      reinterpret_cast<__m512i>(x.all >> 32), reinterpret_cast<__m512i>(y.all),
      reinterpret_cast<__m512i>(z.all), kXorOfThree));
}

// Bits that say which words of blocks, those of a block one after the other, are at least `least`
// as integers.
__attribute__((target(OPCAST_AVX2))) inline uint64_t AtLeast(const WordLanes<32> (&words)[4],
                                                             int32_t least) {
  __m256i pairs[2];
  for (int k = 0; k < 2; ++k)
    pairs[k] = _mm256_blend_epi32(reinterpret_cast<__m256i>(words[2 * k].all),
                                  reinterpret_cast<__m256i>(words[2 * k + 1].all << 32), 0xaa);
  const __m256i even = _mm256_unpacklo_epi64(pairs[0], pairs[1]),
                odd = _mm256_unpackhi_epi64(pairs[0], pairs[1]),
                less = _mm256_set1_epi32(least - 1);
  const __m256i halves[] = {_mm256_permute2x128_si256(even, odd, 0x20),
                            _mm256_permute2x128_si256(even, odd, 0x31)};
  uint64_t bits = 0;
  for (int k = 0; k < 2; ++k) {
    const __m256i more = _mm256_cmpgt_epi32(_mm256_srli_epi32(halves[k], 8), less);
    bits |= static_cast<uint64_t>(_mm256_movemask_ps(_mm256_castsi256_ps(more))) << 8 * k;
  }
  return bits;
}
__attribute__((target(OPCAST_AVX512))) inline uint64_t AtLeast(const WordLanes<64> (&words)[4],
                                                               int32_t least) {
  __m512i pairs[2];
  for (int k = 0; k < 2; ++k)
    pairs[k] =
        _mm512_mask_shuffle_epi32(reinterpret_cast<__m512i>(words[2 * k].all), 0xaaaa,
                                  reinterpret_cast<__m512i>(words[2 * k + 1].all), _MM_PERM_CCAA);
  const __m512i places[] = {_mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
                            _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15)};
  uint64_t bits = 0;
  for (int k = 0; k < 2; ++k) {
    const __m512i half = _mm512_permutex2var_epi64(pairs[0], places[k], pairs[1]);
    const __m512i uniforms = _mm512_maskz_srli_epi32(kAll, half, 8);
    bits |= uint64_t{_mm512_cmpge_epi32_mask(uniforms, _mm512_set1_epi32(least))} << 16 * k;
  }
  return bits;
}

// The same with vectors.
template <int kWidth>
class WideUniformLanes {
 public:
  explicit WideUniformLanes(const RandomStream& stream) {
    PhiloxKey key(stream.Key());
    for (int round = 0; round < kPhiloxRounds; ++round, key.Next())
      keys_[round][0].Fill(key.first), keys_[round][1].Fill(key.second);
    high_.Fill(stream.Offset());
    factors_[0].Fill(kPhiloxFirst), factors_[1].Fill(kPhiloxSecond);
  }

  uint64_t AtLeast(int32_t least, int64_t n) const {
    constexpr int kCount = WordLanes<kWidth>::kCount;
    uint64_t bits = 0;
    for (int half = 0; half < 2; ++half) {
      WordLanes<kWidth> words[4];
      Mix(static_cast<uint64_t>(n + half * kCount), words);
      bits |= opcast_ops::AtLeast(words, least) << half * 4 * kCount;
    }
    return bits;
  }

 private:
  // The blocks of counters from `low` on: see Philox.
  void Mix(uint64_t low, WordLanes<kWidth> (&words)[4]) const {
    auto& [x, y, z, w] = words;
    Count(low, &x);
    y.all = x.all >> 32;
    z = high_;
    w.all = high_.all >> 32;
#pragma GCC unroll 10
    for (int round = 0; round < kPhiloxRounds; ++round) {
      WordLanes<kWidth> first, second;
      MultiplyWords(x, factors_[0], &first);
      MultiplyWords(z, factors_[1], &second);
      MixUpper(second, y, keys_[round][0], &x);
      MixUpper(first, w, keys_[round][1], &z);
      y = second;
      w = first;
    }
  }

  WordLanes<kWidth> keys_[kPhiloxRounds][2], high_, factors_[2];
};
template <>
class UniformLanes<32> : public WideUniformLanes<32> {
 public:
  using WideUniformLanes::WideUniformLanes;
};
template <>
class UniformLanes<64> : public WideUniformLanes<64> {
 public:
  using WideUniformLanes::WideUniformLanes;
};
#endif

}  // namespace opcast_ops
