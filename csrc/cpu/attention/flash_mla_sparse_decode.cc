// o = softmax(sm_scale * q @ kv.T) @ kv and the logarithm of the softmax's denominator, for every
// position over the tokens of the cache that its indices name.
//
// flash_mla_splits.h says how, and in which precision. A position has one split: where there are
// few, threads take fewer heads each, which makes no difference to the bits.
#include "cpu/lib/standard_headers.h"

#include "cpu/attention/flash_mla_sparse.h"
#include "flash_mla_sparse_decode.gen.h"

namespace opcast_ops {

template opcast::Status RunCall(const SparseCall&, const opcast::Launch&);

opcast::Status FlashMlaSparseDecode(const FlashMlaSparseDecodeArgs& args,
                                    const opcast::Launch& launch) {
  const int64_t heads = args.B * args.S * args.H, threads = std::max(launch.Threads(), 1);
  const int64_t share = std::clamp<int64_t>((heads + threads - 1) / threads, 1, kHeads);
  return RunSparse(args, launch, share, 1, 1);
}

}  // namespace opcast_ops
