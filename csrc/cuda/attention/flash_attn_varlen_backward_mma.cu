// flash_attn_varlen_backward on tensor cores, for numbers of 16 bits on sm_80 and newer. Two
// kernels make the products q k and grad_o v again, 64 by 64: one has a block for 64 queries of a
// head and writes grad_q, the other one for 64 keys, and writes grad_k and grad_v: see
// attention_backward_tile.h. Products: 16 x 8 x 16; weights and gradients of scores are two
// numbers of 16 bits each.
//
// Registers: at most 255. Shared memory: 49 or 97 KiB.
#include "flash_attn_varlen_backward.gen.h"

#if defined(__CUDACC__)
#include "cuda/attention/attention_backward_keys.h"
#include "cuda/attention/attention_backward_queries.h"
#endif

namespace opcast_ops {

#if defined(__CUDACC__)

namespace {

template <class T, int kDepth, bool kCapped>
opcast::Status StartTiles(const BackwardCall<T>& call, const opcast::Launch& launch) {
  const size_t shared = sizeof(GradShared<T, kDepth>);
  const int64_t sequences = call.source.queries.sequences;
  const unsigned queries = opcast::Blocks(TilesOf<kGradRows>(call.queries, sequences) * call.heads);
  const unsigned keys = opcast::Blocks(TilesOf<kGradRows>(call.keys, sequences) * call.key_heads);
  opcast::Status status = StartDeltas<true, kDepth / 8>(call, launch);
  if (status.ok())
    status =
        opcast::Start(KeyTilesKernel<T, kDepth, kCapped>, keys, kGradThreads, shared, launch, call);
  if (status.ok())
    status = opcast::Start(QueryTilesKernel<T, kDepth, kCapped>, queries, kGradThreads, shared,
                           launch, call);
  return status.ok() ? StartSinks(call, launch) : status;
}

template <class T>
opcast::Status StartTyped(const FlashAttnVarlenBackwardArgs& args, const opcast::Launch& launch) {
  const BackwardCall<T> call = BackwardCallOf<T>(FlashAttnVarlenBackwardTyped<T>(args));
  const bool narrow = args.D <= 64 && args.Dv <= 64;
  if (call.sight.capped)
    return narrow ? StartTiles<T, 64, true>(call, launch) : StartTiles<T, 128, true>(call, launch);
  return narrow ? StartTiles<T, 64, false>(call, launch) : StartTiles<T, 128, false>(call, launch);
}

// Whether rows that begin at a multiple of 16 bytes, a pointer and distances, are cut into whole
// parts of 8 numbers.
bool InParts(const void* pointer, std::initializer_list<int64_t> distances) {
  bool whole = reinterpret_cast<uintptr_t>(pointer) % 16 == 0;
  for (const int64_t distance : distances) whole = whole && distance % 8 == 0;
  return whole;
}

}  // namespace

const char* FlashAttnVarlenBackwardMmaSupported(const FlashAttnVarlenBackwardArgs& a,
                                                const opcast::Launch&) {
  constexpr int64_t kMostBlocks = int64_t{1} << 30;
  if (a.D % 8 != 0 || a.Dv % 8 != 0 || a.D > 128 || a.Dv > 128)
    return "D and Dv are not multiples of 8 up to 128";
  if (TilesOf<kGradRows>(a.Tq, a.B) > kMostBlocks / (a.Hq + 1) ||
      TilesOf<kGradRows>(a.Tk, a.B) > kMostBlocks / (a.Hk + 1))
    return "there are too many rows";
  if (!InParts(a.q, {a.q_layout.Stride(-3), a.q_layout.Stride(-2)}) ||
      !InParts(a.k, {a.k_layout.Stride(-3), a.k_layout.Stride(-2)}) ||
      !InParts(a.v, {a.v_layout.Stride(-3), a.v_layout.Stride(-2)}) || !InParts(a.o, {}) ||
      !InParts(a.grad_o, {}) || !InParts(a.grad_q, {}) || !InParts(a.grad_k, {}) ||
      !InParts(a.grad_v, {}))
    return "rows do not begin at multiples of 16 bytes";
  return nullptr;
}

opcast::Status FlashAttnVarlenBackwardMma(const FlashAttnVarlenBackwardArgs& args,
                                          const opcast::Launch& launch) {
  return args.T == opcast::DType::kF16 ? StartTyped<opcast::f16>(args, launch)
                                       : StartTyped<opcast::bf16>(args, launch);
}

#else  // the emulator, which does not know these instructions

const char* FlashAttnVarlenBackwardMmaSupported(const FlashAttnVarlenBackwardArgs&,
                                                const opcast::Launch&) {
  return "this machine lacks tensor cores as nvcc knows them";
}

opcast::Status FlashAttnVarlenBackwardMma(const FlashAttnVarlenBackwardArgs&,
                                          const opcast::Launch&) {
  return opcast::Status::Error("this machine lacks tensor cores as nvcc knows them");
}

#endif

}  // namespace opcast_ops
