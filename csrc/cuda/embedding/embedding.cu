// y[i] = weight[ids[i]]: copies of whole rows, dense.
//
// Registers: at most 40.
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/lib/row_kernels.h"
#include "embedding.gen.h"

namespace opcast_ops {
namespace {

template <class T, class I>
struct EmbeddingRow {
  using Element = T;
  T* y;
  const T* weight;
  const I* ids;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    if (!there) return;
    const int64_t n = member.n();
    const T* from = weight + int64_t{ids[row]} * n;
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      Store<Form::kWhole>(Load<Form::kWhole>(from, begin, n), y + row * n, begin, n);
    });
  }
};

}  // namespace

opcast::Status EmbeddingCuda(const EmbeddingArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using I = typename std::decay_t<decltype(a)>::I;
    return ForRows(a.batch, a.D, AlignedRows<T>({a.y, a.weight}, a.D), launch,
                   EmbeddingRow<T, I>{a.y, a.weight, a.ids});
  });
}

}  // namespace opcast_ops
