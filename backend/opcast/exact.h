// Numbers of any element type, compared without rounding: a double does not hold every integer of
// 64 bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace opcast {

class Exact {
 public:
  Exact() = default;
  // Implicit, so that generated code passes a number of whatever type its expression has.
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Exact(T value) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_floating_point_v<T>) {
      whole_ = false;
      real_ = static_cast<double>(value);
    } else {
      if constexpr (std::is_signed_v<T>) negative_ = value < 0;
      size_ = static_cast<uint64_t>(value);
      if (negative_) size_ = 0 - size_;
    }
  }

  // False if one of them is NaN.
  friend bool operator<=(const Exact& a, const Exact& b) {
    if (a.whole_ && b.whole_) return a.NotAbove(b);
    if (!a.whole_ && !b.whole_) return a.real_ <= b.real_;
    if (a.whole_) {
      return b.Far() ? b.real_ > 0 : b.real_ == b.real_ && a.NotAbove(Whole(std::floor(b.real_)));
    }
    return a.Far() ? a.real_ < 0 : a.real_ == a.real_ && Whole(std::ceil(a.real_)).NotAbove(b);
  }

 private:
  // Whether it is further from zero than every integer of 64 bits.
  bool Far() const { return real_ >= 0x1p64 || real_ <= -0x1p64; }

  // The integer that a double is.
  static Exact Whole(double value) {
    Exact out;
    out.negative_ = value < 0;
    out.size_ = static_cast<uint64_t>(std::fabs(value));
    return out;
  }

  bool NotAbove(const Exact& b) const {
    if (negative_ != b.negative_) return negative_;
    return negative_ ? size_ >= b.size_ : size_ <= b.size_;
  }

  bool whole_ = true, negative_ = false;
  uint64_t size_ = 0;
  double real_ = 0;
};

}  // namespace opcast
