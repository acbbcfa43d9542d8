// What messages say about the names in a condition: "C = 4 of x, layout = 'NHD'".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "opcast/types.h"

namespace opcast {

// A name in the explanation of a message: "N = 8 of x"; `of` is null for attrs and named sizes.
struct Why {
  enum class Kind { kInt, kBool, kFloat, kList, kText, kDType };

  Why(const char* name, int64_t value, const char* of) : name(name), of(of), value(value) {}
  Why(const char* name, bool value, const char* of)
      : name(name), of(of), kind(Kind::kBool), value(value) {}
  Why(const char* name, double value, const char* of)
      : name(name), of(of), kind(Kind::kFloat), number(value) {}
  Why(const char* name, std::string_view value, const char* of)
      : name(name), of(of), kind(Kind::kText), text(value) {}
  Why(const char* name, DType value, const char* of)
      : name(name), of(of), kind(Kind::kDType), value(static_cast<int64_t>(value)) {}
  Why(const char* name, const std::vector<int64_t>& list, const char* of)
      : name(name),
        of(of),
        kind(Kind::kList),
        value(static_cast<int64_t>(list.size())),
        list(list.data()) {}
  template <size_t N>
  Why(const char* name, const std::array<int64_t, N>& list, const char* of)
      : name(name), of(of), kind(Kind::kList), value(N), list(list.data()) {}

  const char* name;
  const char* of;
  Kind kind = Kind::kInt;
  int64_t value = 0;  // the number of elements of a list
  double number = 0;
  std::string_view text;
  const int64_t* list = nullptr;
};

// Lists names and values as Python writes them.
std::string Because(std::initializer_list<Why> why);

}  // namespace opcast
