#include <cstdint>
#include <cstring>

#include "../bug.h"
#include "append_tokens.gen.h"

namespace museum_ops {
namespace {

// Copies elements, by vectors of 16 bytes where both ends of the copy lie on multiples of that.
template <class T>
void Copy(const T* from, T* to, int64_t count) {
  const auto aligned = [](const T* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  bool vectors = aligned(from) && aligned(to);
  if (BUG("vllm-project/vllm#45466",
          "Of a copy by vectors, only the source was tested for its alignment, so some heads "
          "faulted.")) {
    vectors = aligned(from);
  }
  constexpr int64_t kPack = 16 / sizeof(T);
  int64_t i = 0;
  if (vectors) {
    for (; i + kPack <= count; i += kPack) {
      std::memcpy(__builtin_assume_aligned(to + i, 16), __builtin_assume_aligned(from + i, 16), 16);
    }
  }
  for (; i < count; ++i) to[i] = from[i];
}

template <class Typed, class T>
void Write(const Typed& a, const T* tokens, const opcast::Layout& rows, T* cache,
           const opcast::Layout& pages) {
  int64_t count = a.N, page = pages.Stride(-4), head = pages.Stride(-2);
  if (BUG("vllm-project/vllm#13922",
          "There were taken to be as many slots as padded keys, so slots behind the array were "
          "read.")) {
    count = a.M;
  }
  if (BUG("flashinfer-ai/flashinfer#527",
          "Pages were taken to follow each other densely, though the caller passed strides.")) {
    page = a.S * a.H * a.D;
  }
  if (BUG("vllm-project/vllm-xpu-kernels#429",
          "The heads of a token were written as one run, though its cache left gaps between "
          "them.")) {
    head = a.D;
  }
  for (int64_t n = 0; n < count; ++n) {
    auto slot = static_cast<int64_t>(a.slots[n]);
    if (slot < 0) {
      if (!BUG("vllm-project/vllm#43810",
               "A token that pads the batch has slot -1, which was counted from the end of the "
               "cache.")) {
        continue;
      }
      slot += a.P * a.S;
    }
    T* const to = cache + slot / a.S * page + slot % a.S * pages.Stride(-3);
    for (int64_t h = 0; h < a.H; ++h)
      Copy(tokens + n * rows.Stride(-3) + h * rows.Stride(-2), to + h * head, a.D);
  }
}

}  // namespace

opcast::Status AppendTokens(const AppendTokensArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    Write(a, a.key, a.key_layout, a.k_cache, a.k_cache_layout);
    Write(a, a.value, a.value_layout, a.v_cache, a.v_cache_layout);
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
