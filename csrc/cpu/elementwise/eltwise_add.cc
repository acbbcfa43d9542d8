// c = a + b, dense. The float sum of two 16-bit numbers is exact enough that rounding it gives the
// correctly rounded sum.
#include "cpu/lib/standard_headers.h"

#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "eltwise_add.gen.h"

namespace opcast_ops {

opcast::Status EltwiseAdd(const EltwiseAddArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const Stores<> stores = {PastCache(launch, a.c, a.batch, 3)};
    const auto chunk = [&a, stores](int64_t begin, int64_t end, auto width) {
      const auto sum = [](float left, float right) { return left + right; };
      MoveTo<width>(stores, end - begin, sum, a.c + begin, a.a + begin, a.b + begin);
    };
    opcast::ParallelFor(launch, a.batch, kChunk, chunk);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
