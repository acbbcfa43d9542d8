// flash_attn_varlen on tensor cores, for numbers of 16 bits on sm_80 and newer: see
// attention_mma_blocks.h. A block has 64 or 128 queries.
//
// Registers: at most 255.
#include "flash_attn_varlen.gen.h"

#if defined(__CUDACC__)
#include "cuda/attention/attention_mma_blocks.h"
#endif

namespace opcast_ops {

#if defined(__CUDACC__)

namespace {

template <class T, int kDepth, int kWarps>
opcast::Status AttendTiled(const FlashAttnVarlenTyped<T>& a, const opcast::Launch& launch) {
  const opcast::Layout& q = a.q_layout;
  const TiledCall<T> call{SequencesOf<T>(a),
                          SightOf(a.causal, a.window_left, a.sm_scale, a.soft_cap),
                          a.q,
                          q.Stride(-3),
                          q.Stride(-2),
                          a.sinks,
                          a.o,
                          a.lse,
                          a.Tq,
                          a.Hq,
                          a.Hq / a.Hk,
                          a.D,
                          a.Dv};
  const auto kernel = call.sight.capped ? TiledAttentionKernel<T, kDepth, true, kWarps>
                                        : TiledAttentionKernel<T, kDepth, false, kWarps>;
  const size_t shared =
      sizeof(T) * (kWarps * kWarpQueries * kTileKeys * 2 + 4 * kTileKeys * kDepth);
  const int64_t blocks = TilesOf<kWarps * kWarpQueries>(a.Tq, a.B) * a.Hq;
  return opcast::Start(kernel, static_cast<unsigned>(blocks), kWarps * 32, shared, launch, call);
}

template <class T>
opcast::Status AttendAny(const FlashAttnVarlenArgs& args, const opcast::Launch& launch, bool wide) {
  const FlashAttnVarlenTyped<T> a(args);
  if (a.D <= 64 && a.Dv <= 64)
    return wide ? AttendTiled<T, 64, 8>(a, launch) : AttendTiled<T, 64, 4>(a, launch);
  return wide ? AttendTiled<T, 128, 8>(a, launch) : AttendTiled<T, 128, 4>(a, launch);
}

// Whether rows that begin at a multiple of 16 bytes, a pointer and distances, are cut into whole
// parts of 8 numbers.
bool InParts(const void* pointer, std::initializer_list<int64_t> distances) {
  bool whole = reinterpret_cast<uintptr_t>(pointer) % 16 == 0;
  for (const int64_t distance : distances) whole = whole && distance % 8 == 0;
  return whole;
}

}  // namespace

const char* FlashAttnVarlenMmaSupported(const FlashAttnVarlenArgs& a, const opcast::Launch&) {
  if (a.D % 8 != 0 || a.Dv % 8 != 0 || a.D > 128 || a.Dv > 128)
    return "D and Dv are not multiples of 8 up to 128";
  if ((a.Tq / 64 + a.B + 1) * a.Hq >= int64_t{1} << 31) return "there are too many queries";
  if (!InParts(a.q, {a.q_layout.Stride(-3), a.q_layout.Stride(-2)}) || !InParts(a.o, {}) ||
      !InParts(a.k, {a.k_layout.Stride(-3), a.k_layout.Stride(-2)}) ||
      !InParts(a.v, {a.v_layout.Stride(-3), a.v_layout.Stride(-2)}))
    return "rows do not begin at multiples of 16 bytes";
  return nullptr;
}

opcast::Status FlashAttnVarlenMma(const FlashAttnVarlenArgs& args, const opcast::Launch& launch,
                                  const FlashAttnVarlenMmaParams& params) {
  const bool wide = params.queries == 128;
  if (args.T == opcast::DType::kF16) return AttendAny<opcast::f16>(args, launch, wide);
  return AttendAny<opcast::bf16>(args, launch, wide);
}

#else  // the emulator, which does not know these instructions

const char* FlashAttnVarlenMmaSupported(const FlashAttnVarlenArgs&, const opcast::Launch&) {
  return "this machine lacks tensor cores as nvcc knows them";
}

opcast::Status FlashAttnVarlenMma(const FlashAttnVarlenArgs&, const opcast::Launch&,
                                  const FlashAttnVarlenMmaParams&) {
  return opcast::Status::Error("this machine lacks tensor cores as nvcc knows them");
}

#endif

}  // namespace opcast_ops
