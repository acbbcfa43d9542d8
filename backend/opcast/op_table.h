// The rows of the tables that describe an op: its kernels, arrays and attributes. Generated code
// writes the tables with the named constructors below; all of it is made by the compiler, so that
// loading a library initialises nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "opcast/types.h"

namespace opcast {

// An array in static memory.
template <class T>
class Table {
 public:
  constexpr Table() = default;
  template <size_t N>
  constexpr Table(const T (&items)[N]) : items_(items), size_(N) {}

  // One without items, which differs from none at all: it begins somewhere.
  static constexpr Table Empty() {
    Table table;
    table.items_ = &kNothing;
    return table;
  }

  constexpr int size() const { return static_cast<int>(size_); }
  constexpr const T& operator[](int i) const { return items_[i]; }
  constexpr const T* begin() const { return items_; }
  constexpr const T* end() const { return items_ + size_; }

 private:
  static constexpr T kNothing{};
  const T* items_ = nullptr;
  size_t size_ = 0;
};

enum class Role { kOutput, kSaved, kInput, kMutated, kScratch };

// An array argument of an export.
struct Array {
  const char* name;
  Role role;
  bool optional = false;  // may be None, though not always: see the rules of the op
  int list = -1;  // of an argument that is a list of arrays: which of the lengths says how many

  static constexpr Array Output(const char* name) { return {name, Role::kOutput}; }
  // An output that is computed only for a gradient.
  static constexpr Array Saved(const char* name) { return {name, Role::kSaved}; }
  static constexpr Array Input(const char* name) { return {name, Role::kInput}; }
  // An input that the op overwrites.
  static constexpr Array Mutated(const char* name) { return {name, Role::kMutated}; }
  static constexpr Array Scratch(const char* name) { return {name, Role::kScratch, true}; }

  constexpr Array Optional() const { return {name, role, true}; }
  constexpr Array List(int length) const { return {name, role, optional, length}; }
};

enum class AttrType { kInt, kFloat, kBool, kStr, kInts, kDType };

// An attribute: Attr::Float("eps").Default(1e-6). One without a default has to be given by the
// caller.
struct Attr {
  enum class Otherwise {
    kMissing,  // the caller has to give it
    kValue,    // one of the members below stands for it
    kNone,     // None does: the export computes the value from sizes, or there is none
  };

  const char* name;
  AttrType type;
  Otherwise otherwise = Otherwise::kMissing;
  // The default: integer for int and bool, and for every element of a list unless there is a list.
  int64_t integer = 0;
  double number = 0;
  const char* text = nullptr;
  Table<int64_t> list{};
  // The export does not take a dtype attribute: this output has that dtype, which is one of these.
  const char* carrier = nullptr;
  Table<opcast::DType> dtypes{};

  static constexpr Attr Int(const char* name) { return {name, AttrType::kInt}; }
  static constexpr Attr Float(const char* name) { return {name, AttrType::kFloat}; }
  static constexpr Attr Bool(const char* name) { return {name, AttrType::kBool}; }
  static constexpr Attr Str(const char* name) { return {name, AttrType::kStr}; }
  // A list of integers.
  static constexpr Attr Ints(const char* name) { return {name, AttrType::kInts}; }
  // The dtype of the output `carrier`.
  static constexpr Attr DTypeOf(const char* name, const char* carrier,
                                Table<opcast::DType> dtypes) {
    Attr a{name, AttrType::kDType};
    a.carrier = carrier;
    a.dtypes = dtypes;
    return a;
  }

  // An int or bool, a float that is a whole number, or what every element of a list is.
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  constexpr Attr Default(T value) const {
    Attr a = With(Otherwise::kValue);
    a.integer = static_cast<int64_t>(value);
    a.number = static_cast<double>(value);
    return a;
  }
  constexpr Attr Default(double value) const {
    Attr a = With(Otherwise::kValue);
    a.number = value;
    return a;
  }
  constexpr Attr Default(const char* value) const {
    Attr a = With(Otherwise::kValue);
    a.text = value;
    return a;
  }
  constexpr Attr Default(Table<int64_t> value) const {
    Attr a = With(Otherwise::kValue);
    a.list = value;
    return a;
  }
  // A list without elements.
  constexpr Attr DefaultEmpty() const {
    Attr a = With(Otherwise::kValue);
    a.list = Table<int64_t>::Empty();
    return a;
  }
  constexpr Attr OrNone() const { return With(Otherwise::kNone); }

 private:
  constexpr Attr With(Otherwise value) const {
    Attr a = *this;
    a.otherwise = value;
    return a;
  }
};

// A number that a kernel takes beside its arguments, and the values that it can have. See tuned.h.
struct Param {
  const char* name;
  Table<int64_t> values;
};

// A kernel of an op, without its types.
struct KernelInfo {
  const char* name;
  int device;    // DLDeviceType
  bool scratch;  // takes the op's scratch; else it gets null pointers
  bool built;    // is in this library
  Table<Param> params{};
};

// The kernels of an op, without their types: a view of the rows that dispatch reads.
class KernelTable {
 public:
  template <class Variant, size_t N>
  constexpr KernelTable(const Variant (&variants)[N])
      : first_(variants), size_(N), step_(sizeof(Variant)) {}

  constexpr int size() const { return static_cast<int>(size_); }
  const KernelInfo& operator[](int i) const {
    const char* first = reinterpret_cast<const char*>(first_);
    return *reinterpret_cast<const KernelInfo*>(first + static_cast<size_t>(i) * step_);
  }

 private:
  const KernelInfo* first_;
  size_t size_;
  size_t step_;  // bytes from one row to the next
};

}  // namespace opcast
