// Outputs whose shapes the library finds out, for callers that make arrays but do not know the
// rules of ops.
#include <algorithm>
#include <new>
#include <vector>

#include "opcast/ffi.h"

namespace opcast {

void Call::MakeOf(Tensor& t, DType dtype, const Tensor& like, const int64_t* leading, int count,
                  std::initializer_list<int64_t> sizes) const {
  const int rank = count + static_cast<int>(sizes.size());
  int64_t near[Tensor::kMaxRank];
  std::vector<int64_t> far(rank > Tensor::kMaxRank ? static_cast<size_t>(rank) : 0);
  int64_t* const shape = far.empty() ? near : far.data();
  std::copy(sizes.begin(), sizes.end(), std::copy(leading, leading + count, shape));
  // The caller's own, which came to be filled in.
  DLTensor& array = const_cast<DLTensor&>(*t.tensor_);
  array = {nullptr, like.device(), rank, DataType(dtype), shape, nullptr, 0};
  if (!allocator_->allocate(allocator_->context, &array)) throw std::bad_alloc();
  t.Read(*this);
}

}  // namespace opcast
