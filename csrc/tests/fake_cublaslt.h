// What the fake cuBLASLt keeps of its objects, and the rules of NVIDIA's documentation by which it
// judges them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace fake {

// cublasStatus_t.
enum Status : int { kSuccess = 0, kAllocFailed = 3, kNotSupported = 15 };

// cudaDataType_t.
enum Type : int32_t { kF32 = 0, kF16 = 2, kBf16 = 14, kF8 = 28 };
inline int SizeOf(int32_t type) { return type == kF32 ? 4 : type == kF8 ? 1 : 2; }

// Values of attributes, by their numbers, each with the size that it must be given with.
struct Attributes {
  std::map<int, uint64_t> values;

  uint64_t Get(int attribute, uint64_t otherwise = 0) const {
    const auto found = values.find(attribute);
    return found == values.end() ? otherwise : found->second;
  }
};

struct Desc : Attributes {
  int compute, scale;

  bool TransA() const { return Get(3) == 1; }
  bool TransB() const { return Get(4) == 1; }
  uint32_t Epilogue() const { return static_cast<uint32_t>(Get(7, 1)); }
  const void* Pointer(int attribute) const { return reinterpret_cast<void*>(Get(attribute)); }
};

struct Layout : Attributes {
  int32_t type;
  int64_t rows, columns, ld;

  int64_t Batch() const { return static_cast<int64_t>(Get(5, 1)); }
  int64_t Stride() const { return static_cast<int64_t>(Get(6)); }
};

struct Preference : Attributes {
  uint64_t Workspace() const { return Get(1); }
  uint32_t Reductions() const { return static_cast<uint32_t>(Get(3, 7)); }
  uint32_t Alignment(int matrix) const { return static_cast<uint32_t>(Get(5 + matrix, 256)); }
};

// A call as the heuristic and the product see it.
struct Problem {
  const Desc* desc;
  const Layout *a, *b, *c, *d;

  int64_t Depth() const { return desc->TransA() ? a->rows : a->columns; }
  // All that decides about the algorithm; pointers do not.
  std::string Text() const {
    std::string text;
    for (const Layout* l : {a, b, c, d}) {
      for (const int64_t v :
           {int64_t{l->type}, l->rows, l->columns, l->ld, l->Batch(), l->Stride()})
        text += std::to_string(v) + " ";
    }
    for (const int k : {3, 4, 7, 26, 31, 32}) text += std::to_string(desc->Get(k)) + " ";
    return text;
  }
};

// What NVIDIA's library answers with kInvalidValue, and may not even notice. A kernel whose call is
// refused leaves it to the next one, so that nobody would see it: the program ends.
[[noreturn]] inline Status Misuse(const char* what) {
  std::fprintf(stderr, "fake cuBLASLt: %s\n", what);
  std::abort();
}

// Whether sizes, leading dimensions and batches describe a product.
inline Status CheckShapes(const Problem& p) {
  const Layout &a = *p.a, &b = *p.b, &d = *p.d;
  const int64_t m = p.desc->TransA() ? a.columns : a.rows;
  const int64_t n = p.desc->TransB() ? b.rows : b.columns;
  const int64_t k = p.desc->TransB() ? b.columns : b.rows;
  if (m != d.rows || n != d.columns || k != p.Depth()) return Misuse("sizes do not fit");
  if (p.c->rows != d.rows || p.c->columns != d.columns) return Misuse("C is no matrix like D");
  for (const Layout* l : {p.a, p.b, p.c, p.d}) {
    if (l->rows < 1 || l->columns < 1) return Misuse("an empty matrix");
    if (l->ld < l->rows) return Misuse("a leading dimension is too small");
    if (l->Batch() != d.Batch()) return Misuse("batches differ");
  }
  if (d.Batch() > 1 && d.Stride() < d.ld * (d.columns - 1) + d.rows)
    return Misuse("matrices of D overlap");
  return kSuccess;
}

// Whether the library has kernels for the types, as its table says, and for the epilogue.
inline Status CheckTypes(const Problem& p) {
  const Desc& desc = *p.desc;
  const int32_t in = p.a->type, out = p.d->type;
  if (desc.compute != 68 || desc.scale != kF32) return Misuse("sums or scales are not float");
  if (p.b->type != in || p.c->type != out) return Misuse("types of A and B, or C and D, differ");
  const uint32_t epilogue = desc.Epilogue();
  if (epilogue != 1 && epilogue != 4 && epilogue != 512) return Misuse("an unknown epilogue");
  const bool scaled = desc.Get(31) == 3 && desc.Get(32) == 3;
  if (desc.Get(31) != desc.Get(32)) return Misuse("one factor is scaled");
  if ((epilogue & 516) != 0) {  // reads or writes a vector
    const int32_t type = static_cast<int32_t>(desc.Get(26, static_cast<uint64_t>(out)));
    const int32_t wanted = in == kF8 && out == kF32 ? int32_t{kBf16} : out;
    if (type != wanted) return kNotSupported;
    if (desc.Pointer(8) == nullptr) return Misuse("the epilogue has no vector");
  }
  if (in != kF8)
    return scaled                     ? Misuse("scales without FP8")
           : out == in || out == kF32 ? kSuccess
                                      : kNotSupported;
  if (!scaled) return Misuse("a product of FP8 without its scales");
  if (!desc.TransA() || desc.TransB() || epilogue == 512) return kNotSupported;
  return p.Depth() % 16 == 0 && p.d->rows % 16 == 0 ? kSuccess : kNotSupported;
}

}  // namespace fake
