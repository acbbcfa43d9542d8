// o = softmax(sm_scale * q @ kv.T) @ kv and the logarithm of the softmax's denominator, for every
// position over the tokens of the cache that its indices name, in splits that are then combined.
//
// flash_mla_attend.h says how, and in which precision.
//
// Registers: at most 128.
// sass: allows narrow in AttendKernel: rows at any address
#include "cuda/attention/flash_mla_sparse.h"
#include "flash_mla_sparse_decode_splitk.gen.h"

namespace opcast_ops {

opcast::Status FlashMlaSparseDecodeSplitkCuda(const FlashMlaSparseDecodeSplitkArgs& args,
                                              const opcast::Launch& launch) {
  return StartSparse(args, args.num_splits, args.splits, launch);
}

}  // namespace opcast_ops
