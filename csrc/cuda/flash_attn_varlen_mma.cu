// flash_attn_varlen on tensor cores, for numbers of 16 bits on sm_80 and newer. A block has 128
// queries of one head and takes keys 64 at a time: see attention_tile.h. Products: 16 x 8 x 16, one
// for scores and two for values.
//
// Registers: at most 255. Shared memory: 64 or 96 KiB.
#include "flash_attn_varlen.gen.h"

#if defined(__CUDACC__)
#include "attention_tiles.h"
#endif

namespace opcast_ops {

#if defined(__CUDACC__)

namespace {

template <class T, int kDepth>
opcast::Status AttendTiles(const FlashAttnVarlenTyped<T>& a, const opcast::Launch& launch) {
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
  const dim3 grid(static_cast<unsigned>(a.Tq / kTileQueries + a.B + 1),
                  static_cast<unsigned>(a.Hq));
  const size_t shared = sizeof(T) * (kTileRoom + 4 * kTileKeys * kDepth);
  const auto kernel = call.sight.capped ? TiledAttentionKernel<T, kDepth, true>
                                        : TiledAttentionKernel<T, kDepth, false>;
  return opcast::Start(kernel, grid, kTileThreads, shared, launch, call);
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
  if (a.Hq > 65535) return "there are more than 65535 heads";
  if (!InParts(a.q, {a.q_layout.Stride(-3), a.q_layout.Stride(-2)}) || !InParts(a.o, {}) ||
      !InParts(a.k, {a.k_layout.Stride(-3), a.k_layout.Stride(-2)}) ||
      !InParts(a.v, {a.v_layout.Stride(-3), a.v_layout.Stride(-2)}))
    return "rows do not begin at multiples of 16 bytes";
  return nullptr;
}

opcast::Status FlashAttnVarlenMma(const FlashAttnVarlenArgs& args, const opcast::Launch& launch) {
  const bool narrow = args.D <= 64 && args.Dv <= 64;
  if (args.T == opcast::DType::kF16) {
    const FlashAttnVarlenTyped<opcast::f16> a(args);
    return narrow ? AttendTiles<opcast::f16, 64>(a, launch)
                  : AttendTiles<opcast::f16, 128>(a, launch);
  }
  const FlashAttnVarlenTyped<opcast::bf16> a(args);
  return narrow ? AttendTiles<opcast::bf16, 64>(a, launch)
                : AttendTiles<opcast::bf16, 128>(a, launch);
}

#else  // the emulator, which does not know these instructions

const char* FlashAttnVarlenMmaSupported(const FlashAttnVarlenArgs&, const opcast::Launch&) {
  return "this machine lacks tensor cores as nvcc knows them";
}

opcast::Status FlashAttnVarlenMma(const FlashAttnVarlenArgs&, const opcast::Launch&) {
  return opcast::Status::Error("this machine lacks tensor cores as nvcc knows them");
}

#endif

}  // namespace opcast_ops
