// vLLM's kernels for the CPU as they are, called for parts of the rows.
//
// Their loops are OpenMP's, which this library is compiled without, so each call stays on its
// thread; threads are those of ParallelFor. Numbers of rows and positions are int there: a part has
// fewer than 2^31 elements.
#include <algorithm>
#include <stdexcept>

#include "cpu/activation.cpp"
#include "cpu/fp8_quant.cpp"
#include "cpu/layernorm.cpp"
#include "cpu/mamba_kernels.hpp"
#include "cpu/pos_encoding.cpp"
#include "dynamic_per_token_scaled_fp8_quant.gen.h"
#include "fused_add_rms_norm.gen.h"
#include "gelu_tanh_and_mul.gen.h"
#include "rms_norm.gen.h"
#include "rotary_embedding.gen.h"
#include "selective_state_update.gen.h"
#include "silu_and_mul.gen.h"
#include "static_scaled_fp8_quant.gen.h"

// All that is used of PyTorch's library: where TORCH_CHECK ends. `require` in the definitions comes
// before it.
void c10::detail::torchCheckFail(const char*, const char*, uint32_t, const char* text) {
  throw std::invalid_argument(text);
}

namespace vllm_cpu_ops {
namespace {

// PyTorch's type with the same bits.
template <class T>
struct Theirs {
  using Type = T;
};
template <>
struct Theirs<opcast::f16> {
  using Type = c10::Half;
};
template <>
struct Theirs<opcast::bf16> {
  using Type = c10::BFloat16;
};
template <>
struct Theirs<opcast::f8e4m3fn> {
  using Type = c10::Float8_e4m3fn;
};
template <>
struct Theirs<opcast::f8e5m2> {
  using Type = c10::Float8_e5m2;
};

template <class T>
auto* To(T* p) {
  return reinterpret_cast<typename Theirs<T>::Type*>(p);
}
template <class T>
auto* To(const T* p) {
  return reinterpret_cast<const typename Theirs<T>::Type*>(p);
}

// Calls part(first row, number of rows) for parts that are neither too small for a thread nor too
// large for an int.
template <class F>
opcast::Status ForRows(const opcast::Launch& launch, int64_t rows, int64_t width, F part) {
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, width));
  const int64_t most = std::max<int64_t>(1, INT32_MAX / std::max<int64_t>(1, width));
  opcast::ParallelFor(launch, rows, grain, [&](int64_t begin, int64_t end) {
    for (; begin < end; begin += most) part(begin, static_cast<int>(std::min(most, end - begin)));
  });
  return opcast::Status::Ok();
}

template <auto activate, class A>
opcast::Status Gate(const A& a, const opcast::Launch& launch) {
  return ForRows(launch, a.batch, 2 * a.D, [&](int64_t r, int rows) {
    activation_kernel<typename Theirs<typename A::T>::Type, activate, true>(
        rows, static_cast<int>(a.D), To(const_cast<typename A::T*>(a.x) + 2 * r * a.D),
        To(a.y + r * a.D));
  });
}

}  // namespace

opcast::Status RmsNorm(const RmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    return ForRows(launch, a.batch, a.N, [&](int64_t r, int rows) {
      rms_norm_impl(To(a.y + r * a.N), To(a.x + r * a.N), To(a.weight), a.weight != nullptr,
                    static_cast<float>(a.epsilon), rows, static_cast<int>(a.N));
    });
  });
}

opcast::Status FusedAddRmsNorm(const FusedAddRmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    return ForRows(launch, a.batch, a.N, [&](int64_t r, int rows) {
      fused_add_rms_norm_impl(To(a.x + r * a.N), To(a.residual + r * a.N), To(a.weight),
                              a.weight != nullptr, static_cast<float>(a.epsilon), rows,
                              static_cast<int>(a.N));
    });
  });
}

opcast::Status RotaryEmbedding(const RotaryEmbeddingArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t query = a.HQ * a.D, key = a.HK * a.D;
    return ForRows(launch, a.N, query + key, [&](int64_t n, int tokens) {
      const auto turn = [&](auto* f) {
        f(a.positions + n, To(a.query + n * query), To(a.key + n * key), To(a.cos_sin_cache),
          static_cast<int>(a.R), query, key, static_cast<int>(a.HQ), static_cast<int>(a.HK),
          static_cast<int>(a.D), tokens);
      };
      using T = typename Theirs<typename std::decay_t<decltype(a)>::T>::Type;
      a.is_neox ? turn(&rotary_embedding_impl<T>) : turn(&rotary_embedding_gptj_impl<T>);
    });
  });
}

opcast::Status SiluAndMul(const SiluAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return Gate<silu_act>(a, launch); });
}

opcast::Status GeluTanhAndMul(const GeluTanhAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return Gate<gelu_tanh_act>(a, launch); });
}

opcast::Status StaticScaledFp8Quant(const StaticScaledFp8QuantArgs& args,
                                    const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t n = a.GN * a.BN;
    return ForRows(launch, a.GM, a.BM * n, [&](int64_t g, int groups) {
      static_quant_impl(To(a.y + g * a.BM * n), To(a.x + g * a.BM * n), a.scale + g * a.GN,
                        groups * a.BM, n, n, n, a.BM, a.BN, a.GN, 1);
    });
  });
}

opcast::Status DynamicPerTokenScaledFp8Quant(const DynamicPerTokenScaledFp8QuantArgs& args,
                                             const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    return ForRows(launch, a.batch, a.N, [&](int64_t r, int rows) {
      dynamic_per_token_quant_impl(To(a.y + r * a.N), a.scale + r, To(a.x + r * a.N), a.scale_ub,
                                   rows, a.N, a.N, a.N);
    });
  });
}

opcast::Status SelectiveStateUpdate(const SelectiveStateUpdateArgs& args,
                                    const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t heads = a.G * a.K, head = a.D * a.N;
    return ForRows(launch, a.B, heads * head, [&](int64_t s, int sequences) {
      const int64_t x = s * heads * a.D, b = s * a.G * a.N;
      mamba_cpu::selective_state_update_kernel(
          To(a.state), heads * head, head, a.N, To(a.x + x), heads * a.D, a.D, a.dt + s * heads,
          heads, a.a, To(a.b + b), To(a.c + b), a.G * a.N, a.N, a.d, a.z ? To(a.z + x) : nullptr,
          a.dt_bias, To(a.y + x), heads * a.D, a.D, a.slots + s, nullptr, -1, nullptr, nullptr,
          sequences, heads, a.G, a.D, a.N, a.dt_softplus);
    });
  });
}

}  // namespace vllm_cpu_ops
