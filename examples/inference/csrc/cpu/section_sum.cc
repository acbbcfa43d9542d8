#include <numeric>

#include "numbers.h"
#include "section_sum.gen.h"

namespace inference_ops {

opcast::Status SectionSum(const SectionSumArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t width = std::accumulate(a.sections.begin(), a.sections.end(), int64_t{0});
    opcast::ParallelFor(launch, a.batch, 1, [&a, width](int64_t begin, int64_t end) {
      const T* x = a.x + begin * width;
      T* y = a.y + begin * static_cast<int64_t>(a.sections.size());
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t n : a.sections) {
          double sum = 0;
          for (int64_t j = 0; j < n; ++j) sum += Widen(*x++);
          *y++ = Narrow<T>(sum);
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
