// Kernels of ops that are made up at random are made of these functions.
#pragma once

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "opcast/kernel.h"

namespace fit {

// Rows of elements of some width in bytes. Without rows of its own, an array is one row.
struct Rows {
  std::vector<char> bytes;
  int64_t rows, size, width;
};

// Where an input lies; null if it is absent.
inline const void* Where(const void* at) { return at; }
inline const void* Where(const opcast::Scalar<void>& scalar) { return scalar.data(); }

// Whether kernels shall have the fault that is planted in them.
inline bool Faulty() {
  const char* value = std::getenv("RANDOM_OPS_FAULT");
  return value != nullptr && *value != 0;
}

inline int64_t Width(opcast::DType t) { return (static_cast<int>(t) & 0xff) / 8; }

// A size of array number i of a list: of all arrays, or of each.
inline int64_t At(int64_t size, size_t) { return size; }
inline int64_t At(const opcast::Ints& sizes, size_t i) { return sizes[i]; }

// Calls f with the offset of each element, in order.
template <class F>
void Each(const opcast::Layout& layout, F&& f) {
  int64_t count = 1;
  for (int d = 0; d < layout.rank; ++d) count *= layout.shape[d];
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, offset = 0;
    for (int d = layout.rank - 1; d >= 0; --d) {
      offset += rest % layout.shape[d] * layout.strides[d];
      rest /= layout.shape[d];
    }
    f(i, offset);
  }
}

inline Rows Read(const void* from, int64_t rows, int64_t size, opcast::DType t,
                 const opcast::Layout* layout = nullptr) {
  Rows result{std::vector<char>(static_cast<size_t>(rows * size * Width(t))), rows, size, Width(t)};
  const auto* bytes = static_cast<const char*>(from);
  const int64_t width = result.width;
  if (result.bytes.empty()) return result;
  if (layout == nullptr) {
    std::memcpy(result.bytes.data(), bytes, result.bytes.size());
  } else {
    Each(*layout, [&](int64_t i, int64_t at) {
      std::memcpy(result.bytes.data() + i * width, bytes + at * width, static_cast<size_t>(width));
    });
  }
  return result;
}

// Reads an input whose leading dims are broadcast: a row for each broadcast index.
inline Rows ReadLead(const void* from, int64_t rows, int64_t size, opcast::DType t,
                     const opcast::Broadcast& lead, const opcast::Layout* layout) {
  Rows result{std::vector<char>(static_cast<size_t>(rows * size * Width(t))), rows, size, Width(t)};
  const auto* bytes = static_cast<const char*>(from);
  for (int64_t i = 0; i < static_cast<int64_t>(result.bytes.size()) / Width(t); ++i) {
    int64_t at = lead.Offset(i / size), rest = i % size;
    if (layout == nullptr) {
      at += rest;
    } else {
      for (int d = layout->rank - 1; d >= layout->rank - layout->trailing; --d) {
        at += rest % layout->shape[d] * layout->strides[d];
        rest /= layout->shape[d];
      }
    }
    std::memcpy(result.bytes.data() + i * result.width, bytes + at * result.width,
                static_cast<size_t>(result.width));
  }
  return result;
}

// Repeats the elements of each row, or of the only one.
inline void Copy(void* to, int64_t rows, int64_t size, const Rows& from) {
  auto* bytes = static_cast<char*>(to);
  const int64_t width = from.width;
  if (from.bytes.empty()) {
    if (rows * size > 0) std::memset(to, 0, static_cast<size_t>(rows * size * width));
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < size; ++j) {
      const int64_t at = (from.rows == rows ? r : 0) * from.size + j % from.size;
      std::memcpy(bytes + (r * size + j) * width, from.bytes.data() + at * width,
                  static_cast<size_t>(width));
    }
  }
}

// The elements of each row from the last to the first.
inline Rows Reversed(const Rows& from) {
  Rows result = from;
  for (int64_t i = 0; i < from.rows * from.size; ++i) {
    const int64_t source = i - i % from.size + from.size - 1 - i % from.size;
    std::memcpy(result.bytes.data() + i * from.width, from.bytes.data() + source * from.width,
                static_cast<size_t>(from.width));
  }
  return result;
}

// Overwrites an array of the same size.
inline void Write(void* x, const Rows& from, const opcast::Layout* layout) {
  if (from.bytes.empty()) return;
  if (layout == nullptr) {
    std::memcpy(x, from.bytes.data(), from.bytes.size());
    return;
  }
  Each(*layout, [&](int64_t i, int64_t at) {
    std::memcpy(static_cast<char*>(x) + at * from.width, from.bytes.data() + i * from.width,
                static_cast<size_t>(from.width));
  });
}

template <class T>
void Put(void* to, int64_t count, int value) {
  for (int64_t i = 0; i < count; ++i) static_cast<T*>(to)[i] = T(static_cast<float>(value));
}

// Fills an array with a small number.
inline void Fill(void* to, int64_t count, opcast::DType t, int value) {
  using opcast::DType;
  switch (t) {
    case DType::kBool:
      return Put<bool>(to, count, value);
    case DType::kU8:
      return Put<uint8_t>(to, count, value);
    case DType::kU16:
      return Put<uint16_t>(to, count, value);
    case DType::kU32:
      return Put<uint32_t>(to, count, value);
    case DType::kU64:
      return Put<uint64_t>(to, count, value);
    case DType::kI8:
      return Put<int8_t>(to, count, value);
    case DType::kI16:
      return Put<int16_t>(to, count, value);
    case DType::kI32:
      return Put<int32_t>(to, count, value);
    case DType::kI64:
      return Put<int64_t>(to, count, value);
    case DType::kF16:
      return Put<opcast::f16>(to, count, value);
    case DType::kBf16:
      return Put<opcast::bf16>(to, count, value);
    case DType::kF32:
      return Put<float>(to, count, value);
    case DType::kF64:
      return Put<double>(to, count, value);
    case DType::kF8e4m3fn:
      return Put<opcast::f8e4m3fn>(to, count, value);
    case DType::kF8e4m3fnuz:
      return Put<opcast::f8e4m3fnuz>(to, count, value);
    case DType::kF8e5m2:
      return Put<opcast::f8e5m2>(to, count, value);
    case DType::kF8e5m2fnuz:
      return Put<opcast::f8e5m2fnuz>(to, count, value);
    case DType::kF8e8m0fnu:
      return Put<opcast::f8e8m0fnu>(to, count, value);
    case DType::kC64:
    case DType::kC128:
      for (int64_t i = 0; i < 2 * count; ++i)
        Fill(static_cast<char*>(to) + i * Width(t) / 2, 1,
             t == DType::kC64 ? DType::kF32 : DType::kF64, i % 2 == 0 ? value : 0);
      return;
    default:
      return;
  }
}

inline bool IsZero(const void* at, int64_t size) {
  const auto* bytes = static_cast<const char*>(at);
  for (int64_t i = 0; i < size; ++i)
    if (bytes[i] != 0) return false;
  return true;
}

// Rows of one small number.
inline Rows Constant(const Rows& like, opcast::DType t, int value) {
  Rows result = like;
  if (!result.bytes.empty()) Fill(result.bytes.data(), like.rows * like.size, t, value);
  return result;
}

// 1 for each element that is not zero, 0 for the others. They are integers.
inline Rows Marks(const Rows& from, opcast::DType t) {
  Rows result{{}, from.rows, from.size, Width(t)};
  result.bytes.resize(static_cast<size_t>(from.rows * from.size * result.width));
  for (int64_t i = 0; i < from.rows * from.size; ++i) {
    bool set = false;
    for (int64_t k = 0; k < from.width; ++k)
      set |= from.bytes[static_cast<size_t>(i * from.width + k)] != 0;
    Fill(result.bytes.data() + i * result.width, 1, t, set);
  }
  return result;
}

// The elements of each row at the given places; zero for places that the row does not have.
inline Rows Gather(const Rows& from, const Rows& places) {
  const int64_t count = places.rows * places.size;
  Rows result{{}, from.rows, count, from.width};
  result.bytes.resize(static_cast<size_t>(from.rows * count * from.width));
  for (int64_t i = 0; i < from.rows * count; ++i) {
    int64_t at = 0;
    const char* place = places.bytes.data() + i % count * places.width;
    if (places.width == 4) {
      int32_t narrow = 0;
      std::memcpy(&narrow, place, 4);
      at = narrow;
    } else {
      std::memcpy(&at, place, 8);
    }
    if (at < 0 || at >= from.size) continue;
    std::memcpy(result.bytes.data() + i * from.width,
                from.bytes.data() + (i / count * from.size + at) * from.width,
                static_cast<size_t>(from.width));
  }
  return result;
}

// Changes the last element.
inline void Spoil(void* y, int64_t count, opcast::DType t) {
  if (y == nullptr || count == 0) return;
  auto* last = static_cast<char*>(y) + (count - 1) * Width(t);
  if (t == opcast::DType::kF8e8m0fnu) {
    *last = *last == 0x7f ? 0x70 : 0x7f;
  } else {
    const bool zero = std::vector<char>(static_cast<size_t>(Width(t))) ==
                      std::vector<char>(last, last + Width(t));
    Fill(last, 1, t, zero ? 1 : 0);
  }
}

}  // namespace fit
