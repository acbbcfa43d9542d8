// Which memory arrays occupy, for the rules on what a kernel writes. Python has the same algorithm.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "opcast/ffi.h"

namespace opcast {
namespace {

struct Range {
  uintptr_t begin, end;
};

// The bytes between the lowest and the highest element; all that there are if the strides lead
// further than addresses do.
Range Extent(const Tensor& t) {
  const auto size = static_cast<int64_t>(t.item_size());
  auto low = reinterpret_cast<intptr_t>(t.data()), high = low;
  bool wild = false;
  for (int d = 0; d < t.rank(); ++d) {
    int64_t reach = 0;
    wild = __builtin_mul_overflow(t.size(d) - 1, t.strides()[d], &reach) || wild;
    wild = __builtin_mul_overflow(reach, size, &reach) || wild;
    intptr_t& end = reach < 0 ? low : high;
    wild = __builtin_add_overflow(end, reach, &end) || wild;
  }
  if (wild) return {0, UINTPTR_MAX};
  return {static_cast<uintptr_t>(low), static_cast<uintptr_t>(high) + t.item_size()};
}

// The dims of more than one element of an array that has elements, by the distance of neighbours.
class Steps {
 public:
  explicit Steps(const Tensor& t) {
    for (int d = 0; d < t.rank(); ++d) {
      if (t.size(d) == 1) continue;
      const int64_t stride = t.strides()[d];
      items_[count_++] = {stride < 0 ? -static_cast<uint64_t>(stride) : stride, t.size(d)};
    }
    std::sort(items_, items_ + count_,
              [](const Item& a, const Item& b) { return a.step < b.step; });
  }

  // Whether each step leaves behind all that the smaller ones reach, so that no two elements meet.
  bool Nest() const {
    int64_t reach = 0, further = 0;
    for (int i = 0; i < count_; ++i) {
      const Item& item = items_[i];
      if (item.step <= static_cast<uint64_t>(reach)) return false;
      if (__builtin_mul_overflow(item.step, item.size - 1, &further)) return false;
      if (__builtin_add_overflow(reach, further, &reach)) return false;
    }
    return true;
  }

  // Whether, of two such arrays that lie `distance` >= 0 apart, some elements meet; true if that
  // takes too long to find out. For steps that nest.
  bool Meet(int64_t distance) const { return count_ > 8 || Meet(count_, distance); }

 private:
  bool Meet(int n, int64_t distance) const {
    if (n == 0) return distance == 0;
    const auto step = static_cast<int64_t>(items_[n - 1].step);
    const int64_t down = FloorDiv(distance, step);
    for (const int64_t times : {down, down + 1}) {
      if (std::abs(times) < items_[n - 1].size && Meet(n - 1, distance - times * step)) return true;
    }
    return false;
  }

  struct Item {
    uint64_t step;
    int64_t size;
  };
  Item items_[63];  // as many dims of two elements fit in 2^63
  int count_ = 0;
};

// The next dim from d on that has more than one element.
int Long(const Tensor& t, int d) {
  while (d < t.rank() && t.size(d) == 1) ++d;
  return d;
}

// Whether two arrays have the same shape and strides, apart from dims of one element.
bool Alike(const Tensor& a, const Tensor& b) {
  int i = Long(a, 0), j = Long(b, 0);
  for (; i < a.rank() && j < b.rank(); i = Long(a, i + 1), j = Long(b, j + 1)) {
    if (a.size(i) != b.size(j) || a.strides()[i] != b.strides()[j]) return false;
  }
  return i == a.rank() && j == b.rank() && a.item_size() == b.item_size();
}

}  // namespace

bool Overlap(const Tensor& a, const Tensor& b) {
  if (a.empty() || b.empty()) return false;
  const Range first = Extent(a), second = Extent(b);
  if (first.begin >= second.end || second.begin >= first.end) return false;
  if (!Alike(a, b)) return true;
  const Steps steps(a);
  if (!steps.Nest()) return true;
  const auto distance = static_cast<int64_t>(
      first.begin > second.begin ? first.begin - second.begin : second.begin - first.begin);
  const auto size = static_cast<int64_t>(a.item_size());
  return distance % size != 0 || steps.Meet(distance / size);
}

void Call::Distinct(const Tensor& t) const {
  if (!t.dense() && !Steps(t).Nest()) WrongStrides(t, "memory without overlap");
}

}  // namespace opcast
