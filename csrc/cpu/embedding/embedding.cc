// y[i] = weight[ids[i]]: copies of whole rows, dense. While a row is copied, the next one is
// fetched: ids name rows in any order.
#include "cpu/lib/standard_headers.h"

#include "cpu/embedding/copy_rows.h"
#include "cpu/lib/row_reductions.h"
#include "embedding.gen.h"

namespace opcast_ops {

opcast::Status Embedding(const EmbeddingArgs& args, const opcast::Launch& launch) {
  if (args.D == 0) return opcast::Status::Ok();
  return Visit(args, [&](const auto& a) {
    const int64_t n = a.D;
    const bool past = PastCache(launch, a.y, a.batch * n, 2);
    const auto rows = [&a, n, past](int64_t begin, int64_t end, auto width) {
      for (int64_t i = begin; i < end; ++i) {
        if (i + 1 < a.batch) FetchRow(a.weight + int64_t{a.ids[i + 1]} * n, n);
        CopyRow<width>(a.weight + int64_t{a.ids[i]} * n, n, past, a.y + i * n);
      }
      if (past) EndStream();
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
