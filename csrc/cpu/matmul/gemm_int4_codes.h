// Rows of codes of 4 bits as the right factor of a product, for machines that multiply pairs of
// bfloat16: see gemm_outer_product.h.
//
// Sixteen rows of 128 codes are a square of words of 32 bits. Transposed, its vectors have eight
// codes of each row, and a table gives the pairs of bfloat16 that they stand for.
#pragma once

#include <cstdint>

#include "cpu/lib/gemm_bf16_pairs.h"
#include "cpu/lib/gemm_packing.h"

namespace opcast_ops {

// Codes stand for their difference from a zero, times a power of two.
struct Codes {
  const uint8_t* at;  // two to a byte, the lower four bits first
  int64_t stride;     // bytes from one row to the next
  const uint8_t* zeros;
  int64_t zero_stride;
  uint8_t zero;  // where zeros is null
  float unit;    // what 1 stands for
};

#if defined(__x86_64__)

// What codes are looked up in. Words hold the difference of a code from its zero, from -15 to 15 as
// a rule, of which the last five bits tell it.
class CodeTable {
 public:
  static constexpr int kLeast = -16, kMost = 15;

  __attribute__((target(OPCAST_AVX512))) explicit CodeTable(float unit) : unit_(unit) {
    opcast::bf16 table[32];
    for (int d = kLeast; d <= kMost; ++d)
      table[d & 31] = opcast::bf16(static_cast<float>(d) * unit);
    std::memcpy(&table_, table, sizeof table);
  }

  // Whether differences from such a zero can be looked up.
  static bool Has(uint8_t zero) { return zero <= -kLeast - 1; }

  // The numbers that pairs of differences stand for.
  __attribute__((target(OPCAST_AVX512))) void LookUp(const Vector<64>& differences,
                                                     Vector<64>* to) const {
    const __m512i found = _mm512_maskz_permutexvar_epi16(
        0xffffffff, _mm512_castps_si512(differences), _mm512_castps_si512(table_));
    *to = _mm512_castsi512_ps(found);
  }

  // The same for differences of any size, computed.
  __attribute__((target(OPCAST_AVX512))) void Convert(const Vector<64>& differences,
                                                      Vector<64>* to) const {
    const __m512i all = _mm512_castps_si512(differences);
    const __m512i low = _mm512_maskz_srai_epi32(kAll, _mm512_maskz_slli_epi32(kAll, all, 16), 16);
    const __m512 unit = _mm512_set1_ps(unit_);
    const __m512 first = _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAll, low), unit);
    const __m512i upper = _mm512_maskz_srai_epi32(kAll, all, 16);
    const __m512 second = _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAll, upper), unit);
    const __m512i bits = _mm512_and_si512(_mm512_castps_si512(second),
                                          _mm512_set1_epi32(static_cast<int>(0xffff0000)));
    *to = _mm512_castsi512_ps(
        _mm512_or_si512(bits, _mm512_maskz_srli_epi32(kAll, _mm512_castps_si512(first), 16)));
  }

 private:
  Vector<64> table_;
  float unit_;
};

// Loads up to sixteen words of a row, and asks for those behind: rows are far apart.
__attribute__((target(OPCAST_AVX512))) inline void LoadWords(const uint8_t* from, int64_t words,
                                                             Vector<64>* to) {
  constexpr int kAhead = 128;
  __builtin_prefetch(from + kAhead, 0, 2);
  const auto mask = static_cast<__mmask16>(words < 16 ? (1 << words) - 1 : 0xffff);
  *to = _mm512_castsi512_ps(_mm512_maskz_loadu_epi32(mask, from));
}

// The differences of codes 2 kPart and 2 kPart + 1 of words from zeros, in words of 16 bits.
template <int kPart>
__attribute__((target(OPCAST_AVX512))) inline void Differ(const Vector<64>& words,
                                                          const Vector<64>& zeros, Vector<64>* to) {
  constexpr int kFirst = 8 * kPart, kSecond = kFirst + 4 - 16;  // bits that codes move down
  const __m512i all = _mm512_castps_si512(words);
  const __m512i first = _mm512_maskz_srli_epi32(kAll, all, kFirst);
  const __m512i second = kSecond < 0 ? _mm512_maskz_slli_epi32(kAll, all, -kSecond)
                                     : _mm512_maskz_srli_epi32(kAll, all, kSecond);
  constexpr int kChoose = 0xca;  // the second where the first has ones, else the third
  const __m512i both = _mm512_ternarylogic_epi32(_mm512_set1_epi32(0xffff), first, second, kChoose);
  const __m512i codes = _mm512_and_si512(both, _mm512_set1_epi32(0x000f000f));
  *to = _mm512_castsi512_ps(_mm512_sub_epi16(codes, _mm512_castps_si512(zeros)));
}

// Writes what 32 codes of a row stand for.
__attribute__((target(OPCAST_AVX512))) inline void UnpackCodes(const CodeTable& table,
                                                               const uint8_t* codes, uint8_t zero,
                                                               opcast::bf16* to) {
  const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
  const __m512i bytes = _mm512_maskz_cvtepu8_epi32(kAll, packed);
  const __m512i both = _mm512_or_si512(bytes, _mm512_maskz_slli_epi32(kAll, bytes, 12));
  const __m512i places = _mm512_and_si512(both, _mm512_set1_epi32(0x000f000f));
  const Vector<64> differences =
      _mm512_castsi512_ps(_mm512_sub_epi16(places, _mm512_set1_epi16(zero)));
  Vector<64> numbers;
  if (CodeTable::Has(zero))
    table.LookUp(differences, &numbers);
  else
    table.Convert(differences, &numbers);
  std::memcpy(to, &numbers, sizeof numbers);
}

// Strips of a panel of codes.
class CodeStrips final : public StripMaker {
 public:
  explicit CodeStrips(const Codes& codes) : codes_(codes) {}

  __attribute__((flatten, target(OPCAST_AVX512))) void Pack(const Part& part,
                                                            float* to) const override {
    const CodeTable table(codes_.unit);
    const int64_t lines = part.depth / 2;
    for (int64_t j = 0; j < part.rows; j += kLanes) {
      float* const strip = to + j / kColumns * kColumns * lines + j % kColumns;
      const int64_t rows = std::min(kLanes, part.rows - j);
      uint32_t zeros[kLanes] = {};
      bool near = true;
      for (int64_t r = 0; r < rows; ++r) {
        const uint8_t zero = ZeroOf(part.row + j + r);
        zeros[r] = zero * 0x10001u;
        near &= CodeTable::Has(zero);
      }
      Vector<64> all_zeros;
      std::memcpy(&all_zeros, zeros, sizeof zeros);
      for (int64_t k = 0; k < part.depth; k += kSquare) {
        const int64_t words = std::min(kSquare, part.depth - k) / kPerWord;
        Vector<64> square[kLanes] = {};
        for (int64_t r = 0; r < rows; ++r)
          LoadWords(codes_.at + (part.row + j + r) * codes_.stride + (part.k + k) / 2, words,
                    &square[r]);
        Transpose<64>(square);
        float* const lines_at = strip + k / 2 * kColumns;
        if (near)
          PackWords(square, words, all_zeros, lines_at, [&](const auto& differences, auto* pairs) {
            table.LookUp(differences, pairs);
          });
        else
          PackWords(square, words, all_zeros, lines_at, [&](const auto& differences, auto* pairs) {
            table.Convert(differences, pairs);
          });
      }
    }
  }

 private:
  static constexpr int64_t kLanes = 16, kColumns = kStripVectors * kLanes;
  static constexpr int64_t kPerWord = 8, kSquare = kLanes * kPerWord;

  uint8_t ZeroOf(int64_t row) const {
    return codes_.zeros == nullptr ? codes_.zero : codes_.zeros[row * codes_.zero_stride];
  }

  template <class ToPairs>
  static void PackWords(const Vector<64>* words, int64_t count, const Vector<64>& zeros, float* to,
                        ToPairs to_pairs) {
    for (int64_t w = 0; w < count; ++w, to += kPerWord / 2 * kColumns)
      PackWord(words[w], zeros, to, to_pairs, std::make_index_sequence<kPerWord / 2>());
  }
  template <class ToPairs, size_t... kPart>
  static void PackWord(const Vector<64>& word, const Vector<64>& zeros, float* to, ToPairs to_pairs,
                       std::index_sequence<kPart...>) {
    Vector<64> differences[kPerWord / 2];
    (Differ<kPart>(word, zeros, &differences[kPart]), ...);
    (to_pairs(differences[kPart], reinterpret_cast<Vector<64>*>(to + kPart * kColumns)), ...);
  }

  const Codes codes_;
};

#endif

}  // namespace opcast_ops
