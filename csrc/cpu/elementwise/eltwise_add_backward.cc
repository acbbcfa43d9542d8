// grad_a = grad_b = grad_c, dense: two copies, bit for bit, in one pass over grad_c.
#include "cpu/lib/standard_headers.h"

#include <cstring>

#include "cpu/lib/row_reductions.h"
#include "eltwise_add_backward.gen.h"

namespace opcast_ops {
namespace {

// Copies n bytes to two places.
template <int kWidth>
inline void CopyTwice(const char* from, int64_t n, char* left, char* right) {
  const auto copy = [=](int64_t i, auto count) {
    char all[kWidth];
    std::memcpy(all, from + i, count);
    std::memcpy(left + i, all, count);
    std::memcpy(right + i, all, count);
  };
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) copy(i, std::integral_constant<size_t, kWidth>());
  if (i < n) copy(i, static_cast<size_t>(n - i));
}

}  // namespace

opcast::Status EltwiseAddBackward(const EltwiseAddBackwardArgs& args,
                                  const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    constexpr int64_t kSize = sizeof(typename std::decay_t<decltype(a)>::T);
    const auto* from = reinterpret_cast<const char*>(a.grad_c);
    auto *left = reinterpret_cast<char*>(a.grad_a), *right = reinterpret_cast<char*>(a.grad_b);
    const auto chunk = [=](int64_t begin, int64_t end, auto width) {
      CopyTwice<width>(from + begin, end - begin, left + begin, right + begin);
    };
    opcast::ParallelFor(launch, a.batch * kSize, kChunk * kSize, chunk);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
