// The leading dims of the inputs that have "...", broadcast together as NumPy does it.
#pragma once

#include <initializer_list>

#include "opcast/ffi.h"

namespace opcast {

// The dims that all inputs so far have together. It begins with none, which go with any.
class Leading {
 public:
  static constexpr int kMaxRank = 64;

  // An input with the number of its dims that are not leading.
  struct Input {
    const Tensor* tensor;
    int trailing;
  };

  // Takes the leading dims of an input in. Throws if they do not go with those of an input that was
  // taken before.
  void Join(const Call& call, const Tensor& t, int trailing, std::initializer_list<Input> before) {
    const int own = t.rank() - trailing;
    if (own > rank_) Grow(call, t, own);
    int64_t* to = shape_ + rank_ - own;
    for (int d = 0; d < own; ++d) {
      const int64_t n = t.shape()[d];
      if (to[d] == 1) {
        to[d] = n;
      } else if (n != to[d] && n != 1) {
        Refuse(call, t, trailing, before);
      }
    }
  }

  int rank() const { return rank_; }
  const int64_t* shape() const { return shape_; }
  // The number of their indices; throws if it does not fit.
  int64_t count() const {
    int64_t n = 1;
    bool empty = false;
    for (int d = 0; d < rank_; ++d) empty = empty || shape_[d] == 0;
    for (int d = 0; d < rank_ && !empty; ++d) n = Mul(n, shape_[d]);
    return empty ? 0 : n;
  }

  // Where the rows of an input lie. Throws if that takes more numbers than a Broadcast has.
  Broadcast Rows(const Call& call, const Tensor& t, int trailing) const;

 private:
  // Puts ones in front.
  void Grow(const Call& call, const Tensor& t, int rank);
  [[noreturn, gnu::cold]] void Refuse(const Call& call, const Tensor& t, int trailing,
                                      std::initializer_list<Input> before) const;

  int rank_ = 0;
  int64_t shape_[kMaxRank];
};

}  // namespace opcast
