// y = softmax(x * scale) along rows, over the columns of which the mask is true; 0 elsewhere, and
// in rows without any. Dense. Computed in double and rounded once.
#include <algorithm>
#include <cmath>

#include "masked_softmax.gen.h"

opcast::Status kit_ops::MaskedSoftmax(const MaskedSoftmaxArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    opcast::ParallelFor(launch, a.batch, 16, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t first = r * a.N, last = first + a.N;
        double most = -INFINITY, sum = 0;
        for (int64_t i = first; i < last; ++i)
          if (a.mask[i]) most = std::max(most, double(a.x[i]) * a.scale);
        for (int64_t i = first; i < last; ++i)
          if (a.mask[i]) sum += std::exp(double(a.x[i]) * a.scale - most);
        for (int64_t i = first; i < last; ++i)
          a.y[i] = a.mask[i] ? T(std::exp(double(a.x[i]) * a.scale - most) / sum) : T(0);
      }
    });
    return opcast::Status::Ok();
  });
}
