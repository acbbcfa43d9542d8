#include <algorithm>

#include "../bug.h"
#include "take_rows.gen.h"

namespace museum_ops {

opcast::Status TakeRows(const TakeRowsArgs& args, const opcast::Launch&) {
  if (args.N > 65535 &&
      BUG("ggml-org/llama.cpp#15882",
          "The grid had a block for each row along a dimension that holds 65,535.")) {
    return opcast::Status::Error("invalid configuration argument");
  }
  return Visit(args, [&](const auto& a) {
    using I = typename std::decay_t<decltype(a)>::I;
    int64_t rows = a.R;
    if (BUG("cupy/cupy#3017",
            "Ids were wrapped by the number of rows, which was held in the dtype of the ids."))
      rows = static_cast<I>(rows);
    for (int64_t n = 0; n < a.N; ++n) {
      const int64_t id = rows == 0 ? 0 : static_cast<int64_t>(a.ids[n]) % rows;
      std::copy_n(a.table + id * a.D, a.D, a.y + n * a.D);
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
