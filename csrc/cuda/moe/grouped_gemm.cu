// c[rows of e] = a[rows of e] @ b[e].T for each expert e, dense; other rows of c are zero. Products
// are summed in float (see gemm_float_tile.h) and rounded once.
//
// Registers: at most 128.
// sass: allows narrow in GroupedRowsKernel: arrays whose rows are not aligned
#include "cuda/moe/grouped_gemm.h"
#include "grouped_gemm.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct GroupedGemmWork {
  const T *a, *b;
  T* c;
  int64_t n, k;

  OPCAST_DEVICE RowFactor<T, EvenRows> Left(int64_t begin, int64_t rows) const {
    return {a + begin * k, rows, {k}};
  }
  OPCAST_DEVICE RowFactor<T, EvenRows> Right(int64_t e) const { return {b + e * n * k, n, {k}}; }
  OPCAST_DEVICE RowsOut<T> Out(int64_t, int64_t begin) const { return {c + begin * n, n}; }
};

}  // namespace

opcast::Status GroupedGemmCuda(const GroupedGemmArgs& args, const opcast::Launch& launch) {
  const RowGroups groups{args.expert_offsets, args.E, args.M};
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const opcast::Status cleared = ClearOthers(launch, a.c, groups, a.N);
    if (!cleared.ok()) return cleared;
    return GroupedRows(launch, GroupedGemmWork<T>{a.a, a.b, a.c, a.N, a.K}, groups, a.N, a.K);
  });
}

}  // namespace opcast_ops
