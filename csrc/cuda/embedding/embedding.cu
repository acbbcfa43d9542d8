// y[i] = weight[ids[i]]: copies of whole rows, dense. What is no row, which the
// definition forbids, gives zeros.
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
  int64_t rows;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    if (!there) return;
    const int64_t n = member.n();
    const int64_t id = ids[row];
    const bool known = id >= 0 && id < rows;
    const T* from = weight + id * n;
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      const Vector<T> found = known ? Load<Form::kWhole>(from, begin, n) : Vector<T>{};
      Store<Form::kWhole>(found, y + row * n, begin, n);
    });
  }
};

}  // namespace

opcast::Status EmbeddingCuda(const EmbeddingArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using I = typename std::decay_t<decltype(a)>::I;
    return ForRows(a.batch, a.D, AlignedRows<T>({a.y, a.weight}, a.D), launch,
                   EmbeddingRow<T, I>{a.y, a.weight, a.ids, a.V});
  });
}

}  // namespace opcast_ops
