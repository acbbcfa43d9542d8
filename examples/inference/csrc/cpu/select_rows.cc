#include <algorithm>

#include "numbers.h"
#include "select_rows.gen.h"

namespace inference_ops {

opcast::Status SelectRows(const SelectRowsArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    int32_t count = 0;
    for (int64_t n = 0; n < a.N; ++n) {
      if (!(Widen(a.score[n]) > a.limit)) continue;
      std::copy_n(a.x + n * a.D, a.D, a.rows + count * a.D);
      ++count;
    }
    *a.count = count;
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
