// c = a @ b.T for b of 4 bits, (code - zero) * scale, dense rows. The differences are bfloat16
// without loss; their products with a are summed in float within a group of columns (see
// product_made.h). These sums times the scales are added in double, and rounded once. Bits depend
// on the values and K only.
#include "gemm_w4a16.gen.h"
#include "product_made.h"

namespace opcast_ops {
namespace {

// Differences are kDown times what they are, so that products with the largest floats have room.
constexpr float kDown = 0x1p-8f;

#if defined(__x86_64__)
// Looks up 32 codes in a table. Words of a vector get a code each: the upper code of a byte is
// moved to the word behind.
__attribute__((target(OPCAST_AVX512))) inline void LookUp(const uint8_t* codes,
                                                          const opcast::bf16* table,
                                                          opcast::bf16* to) {
  const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
  const __m512i bytes = _mm512_maskz_cvtepu8_epi32(kAll, packed);
  const __m512i both = _mm512_or_si512(bytes, _mm512_maskz_slli_epi32(kAll, bytes, 12));
  const __m512i places = _mm512_and_si512(both, _mm512_set1_epi32(0x000f000f));
  _mm512_storeu_si512(
      to, _mm512_maskz_permutexvar_epi16(0xffffffff, places, _mm512_loadu_si512(table)));
}
#endif

// to[k] = the difference of n codes, a multiple of 2, from the one that stands for zero.
template <int kWidth>
inline void Unpack(const uint8_t* codes, int64_t n, float zero, opcast::bf16* to) {
#if defined(__x86_64__)
  if constexpr (kWidth == 64) {
    constexpr int64_t kCodes = 16, kStep = 32;
    float differences[kCodes];
    for (int64_t j = 0; j < kCodes; ++j) differences[j] = (static_cast<float>(j) - zero) * kDown;
    opcast::bf16 table[kStep] = {};
    Narrow<kWidth>(differences, table, kCodes, Exact());
    for (; n >= kStep; n -= kStep, codes += kStep / 2, to += kStep) LookUp(codes, table, to);
  }
#endif
  constexpr int64_t kPart = 128;
  for (int64_t k = 0; k < n; k += kPart) {
    const int64_t count = std::min(kPart, n - k);
    uint8_t split[kPart] = {};
    for (int64_t j = 0; j < count / 2; ++j) {
      const uint8_t pair = codes[k / 2 + j];
      split[2 * j] = pair & 15, split[2 * j + 1] = pair >> 4;
    }
    alignas(64) float wide[kPart];
    for (int64_t j = 0; j < kPart; ++j) wide[j] = (static_cast<float>(split[j]) - zero) * kDown;
    Narrow<kWidth>(wide, to + k, count, Exact());
  }
}

// Adds the sums of columns from k on, which are in one group.
template <class T>
inline void AddScaled(const GemmW4a16Typed<T>& args, const Block& block, int64_t k,
                      const Sums* panel, WideSums* sums) {
  const int64_t groups = args.K / args.group_size;
  const T* const scale = args.scale + block.j * groups + k / args.group_size;
  double scales[kBlockColumns];
  for (int64_t j = 0; j < block.columns; ++j)
    scales[j] = static_cast<float>(scale[j * groups]) / double{kDown};
  for (int64_t i = 0; i < block.rows; ++i) {
    for (int64_t j = 0; j < block.columns; ++j) sums[i][j] += panel[i][j] * scales[j];
  }
}

}  // namespace

opcast::Status GemmW4a16(const GemmW4a16Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const auto left = [&a, type = args.T](const PanelPart& part, opcast::bf16*, auto) {
      return Factor{type, a.a + part.row * a.K + part.k, a.K};
    };
    const auto right = [&a](const PanelPart& part, opcast::bf16* space, auto width) {
      const auto make = [&a](int64_t row, int64_t k, int64_t places, auto* to, auto width) {
        constexpr float kZero = 8;
        const int64_t group = (row * a.K + k) / a.group_size;
        const float zero = a.zero == nullptr ? kZero : static_cast<float>(a.zero[group]);
        Unpack<width>(a.b_packed + (row * a.K + k) / 2, places, zero, to);
      };
      return MakePanel(part, space, make, width);
    };
    const auto add = [&a](const Block& block, int64_t k, const Sums* panel, WideSums* sums) {
      AddScaled(a, block, k, panel, sums);
    };
    const auto finish = [&a](const Block& block, const WideSums* sums, auto width) {
      StoreSums<width>(block, sums, a.N, a.c);
    };
    ForMadeBlocks(launch, {a.batch, a.N, a.K}, a.group_size, left, right, add, finish);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
