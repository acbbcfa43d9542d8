// The order in which the emulator runs what a GPU may run in any order.
#pragma once

#include <cstdint>
#include <numeric>

namespace opcast::device {

// The numbers below `count` in an order that a random number chooses: ascending, descending, or by
// a step that meets each number once.
class Order {
 public:
  Order(uint64_t count, uint64_t random) : count_(count) {
    const uint64_t kind = random % 3, rest = random / 3;
    if (kind == 0) return;
    step_ = kind == 1 ? count - 1 : rest % count;
    at_ = kind == 1 ? count - 1 : rest / 7 % count;
    while (std::gcd(step_, count) != 1) ++step_;
  }

  uint64_t Next() {
    const uint64_t at = at_;
    at_ = (at + step_) % count_;
    return at;
  }

 private:
  uint64_t count_, step_ = 1, at_ = 0;
};

// Numbers without a pattern, the same for the same seed.
class Random {
 public:
  explicit Random(uint64_t seed = 0) : state_(seed) { Next(); }

  uint64_t Next() {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return state_ >> 32;
  }

 private:
  uint64_t state_;
};

}  // namespace opcast::device
