// The first of ranked numbers: see common/ranked.h.
#pragma once

#include <cstdint>

#include "common/ranked.h"

namespace opcast_ops {

// Keeps the first k of the numbers that it is offered, in order, in memory of the caller. It is
// made for few: each number that is kept moves those behind it.
template <class V>
class Best {
 public:
  Best(V* values, int32_t* places, int64_t k) : values_(values), places_(places), k_(k) {}

  int64_t Count() const { return count_; }
  V Value(int64_t i) const { return values_[i]; }
  int32_t Place(int64_t i) const { return places_[i]; }

  // The numbers of places begin to end.
  void OfferAll(const V* numbers, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) Offer(numbers[i], i);
  }

  // Places are offered in ascending order.
  void Offer(V value, int64_t place) {
    if (count_ == k_ && !Above(value, values_[k_ - 1])) return;
    int64_t at = count_ < k_ ? count_++ : k_ - 1;
    for (; at > 0 && Above(value, values_[at - 1]); --at) {
      values_[at] = values_[at - 1];
      places_[at] = places_[at - 1];
    }
    values_[at] = value;
    places_[at] = static_cast<int32_t>(place);
  }

 private:
  V* const values_;
  int32_t* const places_;
  const int64_t k_;
  int64_t count_ = 0;
};

}  // namespace opcast_ops
