// Leading dims that are broadcast: what does not fit, and where the rows of an input lie.
#include "opcast/ffi_leading.h"

#include <algorithm>

namespace opcast {
namespace {

std::string Shape(const Tensor& t) { return "shape " + List(t.shape(), t.rank()); }

// Whether two inputs go together. Several do if each two of them do.
bool Fits(const Tensor& a, int a_dims, const Tensor& b, int b_dims) {
  for (int d = 1; d <= std::min(a_dims, b_dims); ++d) {
    const int64_t m = a.shape()[a_dims - d], n = b.shape()[b_dims - d];
    if (m != n && m != 1 && n != 1) return false;
  }
  return true;
}

// Multiplies as the machine does. Too large a product belongs to an array without elements, of
// which nobody asks for a row.
int64_t Times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace

void Leading::Grow(const Call& call, const Tensor& t, int rank) {
  if (rank > kMaxRank) {
    call.Expected("ValueError", t.name(), "at most 64 leading dimensions", Shape(t));
  }
  std::move_backward(shape_, shape_ + rank_, shape_ + rank);
  std::fill(shape_, shape_ + rank - rank_, 1);
  rank_ = rank;
}

void Leading::Refuse(const Call& call, const Tensor& t, int trailing,
                     std::initializer_list<Input> before) const {
  for (const Input& in : before) {
    if (!*in.tensor) continue;
    const int own = in.tensor->rank() - in.trailing;
    if (Fits(t, t.rank() - trailing, *in.tensor, own)) continue;
    call.Expected("ValueError", t.name(),
                  "leading dimensions that broadcast with " + List(in.tensor->shape(), own) +
                      " (of " + in.tensor->name() + ")",
                  Shape(t));
  }
  call.Throw("RuntimeError", "leading dimensions that broadcast with each, and not with all");
}

Broadcast Leading::Rows(const Call& call, const Tensor& t, int trailing) const {
  Broadcast rows{};
  int64_t row = 1;
  for (int d = t.rank() - trailing; d < t.rank(); ++d) row = Times(row, t.shape()[d]);
  const int own = t.rank() - trailing;
  // From the last dim to the first; the merged ones stand in reverse until the end.
  for (int d = rank_ - 1; d >= 0; --d) {
    const int64_t n = shape_[d];
    if (n == 1) continue;
    const int at = d - (rank_ - own);
    const int64_t stride = at < 0 || t.shape()[at] == 1 ? 0 : t.strides()[at];
    const int last = rows.rank - 1;
    if (last >= 0 && stride == Times(rows.sizes[last], rows.strides[last])) {
      rows.sizes[last] = Times(rows.sizes[last], n);
      continue;
    }
    if (rows.rank == Broadcast::kMaxRank) {
      call.Expected("ValueError", t.name(),
                    "at most 16 leading dimensions after neighbours are merged", Shape(t));
    }
    rows.sizes[rows.rank] = n;
    rows.strides[rows.rank++] = stride;
  }
  rows.dense = rows.rank == 0 || (rows.rank == 1 && rows.strides[0] == row);
  std::reverse(rows.sizes, rows.sizes + rows.rank);
  std::reverse(rows.strides, rows.strides + rows.rank);
  return rows;
}

}  // namespace opcast
