// masked_logits[b, i] = logits[b, i] where it is at least the last of the row's top_k[b] largest
// numbers, -inf elsewhere. Exact. NaN counts as -inf, and becomes it. What is compared are keys,
// see common/sort_key.h.
//
// Registers: at most 128.
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "common/sort_key.h"
#include "cuda/lib/row_kernels.h"
#include "cuda/sampling/row_thresholds.h"
#include "top_k_mask_logits.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct MaskRow {
  using Element = T;
  T* masked_logits;
  const T* logits;
  const int32_t* top_k;

  // 0 for NaN, which does not count.
  OPCAST_DEVICE static uint32_t Key(T number) {
    const float x = static_cast<float>(number);
    return x == x ? RankKey(x, true) : 0;
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const int64_t n = member.n(), k = there ? top_k[row] : 0;
    const Held<T, Form> held(member, logits + row * n, there);
    uint32_t last = KeyAtWeight(member, k, [&](auto add) {
      member.ForVectors<T, Form>([&](int i, int64_t begin) {
        const Vector<T> numbers = held.At(i, begin);
        OPCAST_UNROLL
        for (int e = 0; e < numbers.kSize; ++e)
          add(Key(numbers.at[e]), int64_t{member.Has<Form>(begin, e)});
      });
    });
    if (k <= 0 || k >= n) last = 0;
    if (!there) return;
    member.ForVectors<T, Form>([&](int i, int64_t begin) {
      Vector<T> numbers = held.At(i, begin);
      OPCAST_UNROLL
      for (T& number : numbers.at) {
        const uint32_t key = Key(number);
        if (key == 0 || key < last) number = static_cast<T>(-INFINITY);
      }
      Store<Form::kWhole>(numbers, masked_logits + row * n, begin, n);
    });
  }
};

}  // namespace

opcast::Status TopKMaskLogitsCuda(const TopKMaskLogitsArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const bool aligned = AlignedRows<T>({a.masked_logits, a.logits}, a.V);
    return ForRows(a.B, a.V, aligned, launch, MaskRow<T>{a.masked_logits, a.logits, a.top_k});
  });
}

}  // namespace opcast_ops
