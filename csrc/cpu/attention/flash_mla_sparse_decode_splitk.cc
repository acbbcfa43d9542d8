// o = softmax(sm_scale * q @ kv.T) @ kv and the logarithm of the softmax's denominator, for every
// position over the tokens of the cache that its indices name, in splits that are then combined.
//
// flash_mla_splits.h says how, and in which precision. A split may be empty, as may all.
#include "cpu/lib/standard_headers.h"

#include "cpu/attention/flash_mla_sparse.h"
#include "flash_mla_sparse_decode_splitk.gen.h"

namespace opcast_ops {

opcast::Status FlashMlaSparseDecodeSplitk(const FlashMlaSparseDecodeSplitkArgs& args,
                                          const opcast::Launch& launch) {
  return RunSparse(args, launch, kHeads, args.num_splits, args.splits);
}

}  // namespace opcast_ops
