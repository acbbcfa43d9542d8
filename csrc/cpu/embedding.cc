// y[i] = weight[ids[i]]: copies of whole rows, dense.
#include <cstring>

#include "embedding.gen.h"
#include "rows.h"

namespace opcast_ops {

opcast::Status Embedding(const EmbeddingArgs& args, const opcast::Launch& launch) {
  if (args.D == 0) return opcast::Status::Ok();
  return Visit(args, [&](const auto& a) {
    const int64_t n = a.D;
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), [&a, n](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        std::memcpy(a.y + i * n, a.weight + int64_t{a.ids[i]} * n, sizeof *a.y * n);
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
