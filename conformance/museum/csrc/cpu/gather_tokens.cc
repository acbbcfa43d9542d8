#include <algorithm>
#include <cstdint>

#include "../bug.h"
#include "../numbers.h"
#include "gather_tokens.gen.h"

namespace museum_ops {

opcast::Status GatherTokens(const GatherTokensArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    int64_t row = a.table_layout.Stride(-2);
    if (BUG("vllm-project/vllm#55109",
            "Rows of the table were taken to be as far apart as they are long, though it was a "
            "view.")) {
      row = a.M;
    }
    for (int64_t n = 0; n < a.N; ++n) {
      const int64_t page = a.position[n] / a.S, slot = a.position[n] % a.S;
      auto* const to = a.y + n * a.D;
      if (page >= a.M &&
          !BUG("vllm-project/vllm#49427",
               "Nothing kept a token from reading its page behind its row of the table.")) {
        std::fill_n(to, a.D, Narrow<std::decay_t<decltype(*a.y)>>(0));
        continue;
      }
      const int32_t block = a.table[a.sequence[n] * row + page];
      int64_t at = block * a.cache_layout.Stride(-3);
      if (BUG("vllm-project/vllm#47671",
              "The number of a page was multiplied by the distance of pages in 32 bits, which "
              "overflowed.")) {
        at = static_cast<int32_t>(static_cast<uint32_t>(block) *
                                  static_cast<uint32_t>(a.cache_layout.Stride(-3)));
      }
      std::copy_n(a.cache + at + slot * a.cache_layout.Stride(-2), a.D, to);
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
