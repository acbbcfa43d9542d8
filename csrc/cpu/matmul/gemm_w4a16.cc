// c = a @ b.T for b of 4 bits, (code - zero) * scale, dense rows. The differences are bfloat16
// without loss; their products with a are summed in float within a group of columns (see
// gemm_quantised.h). These sums times the scales are added in double, and rounded once. Bits depend
// on the values, K and group_size only.
#include "cpu/lib/standard_headers.h"

#include <new>

#include "cpu/matmul/gemm_int4_codes.h"
#include "cpu/matmul/gemm_quantised.h"
#include "gemm_w4a16.gen.h"

namespace opcast_ops {
namespace {

// Differences are kDown times what they are, so that products with the largest floats have room.
constexpr float kDown = 0x1p-8f;
constexpr uint8_t kZero = 8;  // where no zeros are given

// to[k] = the difference of n codes, a multiple of 2, from the one that stands for zero.
template <int kWidth>
inline void Unpack(const uint8_t* codes, int64_t n, uint8_t zero, opcast::bf16* to) {
  constexpr int64_t kPart = 128;
  for (int64_t k = 0; k < n; k += kPart) {
    const int64_t count = std::min(kPart, n - k);
    uint8_t split[kPart] = {};
    for (int64_t j = 0; j < count / 2; ++j) {
      const uint8_t pair = codes[k / 2 + j];
      split[2 * j] = pair & 15, split[2 * j + 1] = pair >> 4;
    }
    alignas(64) float wide[kPart];
    for (int64_t j = 0; j < kPart; ++j) wide[j] = static_cast<float>(split[j] - zero) * kDown;
    Narrow<kWidth>(wide, to + k, count, Exact());
  }
}

// Makes rows of a panel, whose codes and zeros find(row, k, &zero) finds.
template <int kWidth, class Find>
inline Factor RowsOfCodes(const PanelPart& part, opcast::bf16* space, Find find) {
#if defined(__x86_64__)
  if constexpr (kWidth == 64) {
    const CodeTable table(kDown);
    const auto make = [&](int64_t row, int64_t k, int64_t places, auto* to, auto width) {
      constexpr int64_t kStep = 32;
      uint8_t zero;
      const uint8_t* codes = find(row, k, &zero);
      for (; places >= kStep; places -= kStep, codes += kStep / 2, to += kStep)
        UnpackCodes(table, codes, zero, to);
      Unpack<width>(codes, places, zero, to);
    };
    return MakePanel(part, space, make, Width<kWidth>());
  }
#endif
  const auto make = [&](int64_t row, int64_t k, int64_t places, auto* to, auto width) {
    uint8_t zero;
    const uint8_t* const codes = find(row, k, &zero);
    Unpack<width>(codes, places, zero, to);
  };
  return MakePanel(part, space, make, Width<kWidth>());
}

// A panel whose rows are made as they are needed, by a maker in `space`, which has no other use
// then. The maker holds nothing, so the next panel's may take its place.
template <class T>
inline Factor CodeFactor([[maybe_unused]] const GemmW4a16Typed<T>& args,
                         [[maybe_unused]] const PanelPart& part,
                         [[maybe_unused]] opcast::bf16* space) {
  Factor factor{opcast::DType::kBf16, nullptr, 0, false};
#if defined(__x86_64__)
  const int64_t groups = args.K / args.group_size,
                first = part.row * groups + part.k / args.group_size;
  const Codes codes{args.b_packed + (part.row * args.K + part.k) / 2,
                    args.K / 2,
                    args.zero == nullptr ? nullptr : args.zero + first,
                    groups,
                    kZero,
                    kDown};
  static_assert(std::is_trivially_destructible_v<Codes> &&
                sizeof(CodeStrips) < sizeof(PanelSpace::b));
  factor.strips = new (space) CodeStrips(codes);
#endif
  return factor;
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
    const bool pairs = TakePairs(args.T, opcast::DType::kBf16);
    const auto right = [&a, pairs](const PanelPart& part, opcast::bf16* space, auto width) {
      if (pairs) return CodeFactor(a, part, space);
      return RowsOfCodes<width>(part, space, [&a](int64_t row, int64_t k, uint8_t* zero) {
        const int64_t place = row * a.K + k;
        *zero = a.zero == nullptr ? kZero : a.zero[place / a.group_size];
        return a.b_packed + place / 2;
      });
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
