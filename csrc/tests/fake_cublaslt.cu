// A cuBLASLt for the emulated device: libcublasLt.so.13 with the functions that kernels here use.
//
// It follows NVIDIA's documentation: matrices are column-major, work is queued on the stream, and
// what is given wrong ends the program, with a line on stderr. Where the documentation leaves a
// choice, it takes an awkward one: creating a handle allocates memory, an algorithm fills all the
// workspace that it may have, and products of some numbers of columns are split along the depth, so
// that sums have another order. A reduction in the type of D, if it is allowed, loses digits.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "fake_cublaslt.h"
#include "opcast/device.h"

namespace fake {
namespace {

// Numbers in memory, whatever their type.
float Load(const void* from, int32_t type, int64_t i) {
  switch (type) {
    case kF32:
      return static_cast<const float*>(from)[i];
    case kF16:
      return static_cast<float>(static_cast<const opcast::f16*>(from)[i]);
    case kBf16:
      return static_cast<float>(static_cast<const opcast::bf16*>(from)[i]);
    default:
      return static_cast<float>(static_cast<const opcast::f8e4m3fn*>(from)[i]);
  }
}
void Store(void* to, int32_t type, int64_t i, float value) {
  if (type == kF32) static_cast<float*>(to)[i] = value;
  if (type == kF16) static_cast<opcast::f16*>(to)[i] = static_cast<opcast::f16>(value);
  if (type == kBf16) static_cast<opcast::bf16*>(to)[i] = static_cast<opcast::bf16>(value);
}

// A matrix as a kernel takes it.
struct Matrix {
  int32_t type;
  int64_t rows, columns, ld, stride;
  bool transposed;

  explicit Matrix(const Layout& l, bool flipped = false)
      : type(l.type),
        rows(l.rows),
        columns(l.columns),
        ld(l.ld),
        stride(l.Stride()),
        transposed(flipped) {}
  int64_t At(int64_t batch, int64_t i, int64_t j) const {
    return batch * stride + (transposed ? i * ld + j : j * ld + i);
  }
};

struct Work {
  Matrix a, b, d;
  int64_t batch, depth;
  uint32_t epilogue;
  int32_t vector_type;
  bool scaled, rounds;  // between the parts of the depth
  int parts;
  float alpha;
  uint64_t workspace;
};

float Sum(const Work& w, const void* a, const void* b, int64_t at, int64_t i, int64_t j) {
  float total = 0;
  for (int part = 0; part < w.parts; ++part) {
    float sum = 0;
    for (int64_t k = w.depth * part / w.parts; k < w.depth * (part + 1) / w.parts; ++k)
      sum += Load(a, w.a.type, w.a.At(at, i, k)) * Load(b, w.b.type, w.b.At(at, k, j));
    total += w.rounds && w.parts > 1 ? static_cast<float>(opcast::bf16(sum)) : sum;
  }
  return total;
}

__global__ void __launch_bounds__(1)
    Compute(Work w, const void* a, const void* b, void* d, unsigned char* workspace, void* vector,
            const float* a_scale, const float* b_scale) {
  for (uint64_t i = 0; i < w.workspace; ++i) workspace[i] = 0x5a;
  for (int64_t at = 0; at < w.batch; ++at) {
    for (int64_t j = 0; j < w.d.columns; ++j) {
      for (int64_t i = 0; i < w.d.rows; ++i) {
        float value = w.alpha * Sum(w, a, b, at, i, j);
        if (w.scaled) value *= a_scale[i] * b_scale[j];
        if ((w.epilogue & 4) != 0) value += Load(vector, w.vector_type, i);
        Store(d, w.d.type, w.d.At(at, i, j), value);
      }
    }
  }
  if (w.epilogue != 512) return;
  for (int64_t j = 0; j < w.d.columns; ++j) {
    double sum = 0;
    for (int64_t k = 0; k < w.depth; ++k) sum += Load(b, w.b.type, w.b.At(0, k, j));
    Store(vector, w.vector_type, j, static_cast<float>(sum));
  }
}

struct Handle {
  int device;
};

// What an algorithm says of itself: what it is for, and what it needs.
struct Algorithm {
  uint64_t problem, workspace, alignment[4], reductions, reserved;
};
struct Found {
  Algorithm algorithm;
  size_t workspace;
  int32_t status;
  float waves;
  int32_t reserved[4];
};

int Current() {
  int device = -1;
  cudaGetDevice(&device);
  return device;
}

template <class Object>
int Set(Object* object, std::map<int, size_t> sizes, int attribute, const void* value,
        size_t size) {
  const auto known = sizes.find(attribute);
  if (known == sizes.end()) return Misuse("an unknown attribute");
  if (known->second != size) return Misuse("an attribute of another size");
  uint64_t bits = 0;
  std::memcpy(&bits, value, size);
  object->values[attribute] = bits;
  return kSuccess;
}

bool AlignedTo(const void* p, uint64_t bytes) {
  return reinterpret_cast<uintptr_t>(p) % bytes == 0;
}

// What the arrays of a call must be like for the algorithm.
int CheckArrays(const Problem& p, const Algorithm& chosen, const void* a, const void* b,
                const void* d, const void* workspace, size_t bytes) {
  if (chosen.problem != std::hash<std::string>()(p.Text()))
    return Misuse("the algorithm is for another product");
  const void* const arrays[] = {a, b, d, d};
  for (int i = 0; i < 4; ++i) {
    if (!AlignedTo(arrays[i], chosen.alignment[i])) return Misuse("an array is not aligned");
  }
  for (const int vector : {8, 17, 18}) {
    if (!AlignedTo(p.desc->Pointer(vector), 16)) return Misuse("a vector is not aligned");
  }
  if (bytes < chosen.workspace || (chosen.workspace > 0 && workspace == nullptr))
    return Misuse("the workspace is too small");
  return kSuccess;
}

// Whether a number is one of about half of all, without a pattern.
bool Scattered(int64_t number) { return (static_cast<uint32_t>(number) * 2654435761U >> 16) % 2; }

int Start(const Problem& p, const Algorithm& chosen, float alpha, const void* a, const void* b,
          void* d, void* workspace, void* stream) {
  const Desc& desc = *p.desc;
  Work w = {Matrix(*p.a, desc.TransA()),
            Matrix(*p.b, desc.TransB()),
            Matrix(*p.d),
            p.d->Batch(),
            p.Depth(),
            desc.Epilogue(),
            static_cast<int32_t>(desc.Get(26, p.d->type)),
            desc.Get(31) == 3,
            (chosen.reductions & 4) != 0,
            Scattered(p.d->columns) && chosen.workspace > 0 ? 3 : 1,
            alpha,
            chosen.workspace};
  const opcast::Launch launch = {2, Current(), stream};
  const opcast::Status status = opcast::Start(
      Compute, dim3(1), dim3(1), 0, launch, w, a, b, d, static_cast<unsigned char*>(workspace),
      const_cast<void*>(desc.Pointer(8)), static_cast<const float*>(desc.Pointer(17)),
      static_cast<const float*>(desc.Pointer(18)));
  return status.ok() ? kSuccess : Misuse(status.text().c_str());
}

}  // namespace
}  // namespace fake

#pragma GCC visibility push(default)
extern "C" {

size_t cublasLtGetVersion() { return 130000; }

int cublasLtCreate(fake::Handle** handle) {
  using Allocate = int (*)(unsigned long long*, size_t);
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto* const allocate = reinterpret_cast<Allocate>(dlsym(driver, "cuMemAlloc_v2"));
  const int device = fake::Current();
  cudaSetDevice(device);
  unsigned long long memory = 0;
  if (allocate(&memory, 1024) != 0) return fake::kAllocFailed;
  *handle = new fake::Handle{device};
  return fake::kSuccess;
}

int cublasLtMatmulDescCreate(fake::Desc** desc, int compute, int scale) {
  *desc = new fake::Desc{{}, compute, scale};
  return fake::kSuccess;
}
int cublasLtMatmulDescDestroy(fake::Desc* desc) {
  delete desc;
  return fake::kSuccess;
}
int cublasLtMatmulDescSetAttribute(fake::Desc* desc, int attribute, const void* value,
                                   size_t size) {
  return fake::Set(desc,
                   {{3, 4}, {4, 4}, {7, 4}, {8, 8}, {17, 8}, {18, 8}, {26, 4}, {31, 4}, {32, 4}},
                   attribute, value, size);
}

int cublasLtMatrixLayoutCreate(fake::Layout** layout, int type, uint64_t rows, uint64_t columns,
                               int64_t ld) {
  *layout =
      new fake::Layout{{}, type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), ld};
  return fake::kSuccess;
}
int cublasLtMatrixLayoutDestroy(fake::Layout* layout) {
  delete layout;
  return fake::kSuccess;
}
int cublasLtMatrixLayoutSetAttribute(fake::Layout* layout, int attribute, const void* value,
                                     size_t size) {
  return fake::Set(layout, {{5, 4}, {6, 8}}, attribute, value, size);
}

int cublasLtMatmulPreferenceCreate(fake::Preference** preference) {
  *preference = new fake::Preference;
  return fake::kSuccess;
}
int cublasLtMatmulPreferenceDestroy(fake::Preference* preference) {
  delete preference;
  return fake::kSuccess;
}
int cublasLtMatmulPreferenceSetAttribute(fake::Preference* preference, int attribute,
                                         const void* value, size_t size) {
  return fake::Set(preference, {{1, 8}, {3, 4}, {5, 4}, {6, 4}, {7, 4}, {8, 4}}, attribute, value,
                   size);
}

int cublasLtMatmulAlgoGetHeuristic(fake::Handle* handle, fake::Desc* desc, fake::Layout* a,
                                   fake::Layout* b, fake::Layout* c, fake::Layout* d,
                                   fake::Preference* preference, int most, fake::Found* found,
                                   int* count) {
  const fake::Problem p = {desc, a, b, c, d};
  *count = 0;
  if (handle->device != fake::Current()) return fake::Misuse("the handle is another device's");
  if (const int status = fake::CheckShapes(p)) return status;
  if (const int status = fake::CheckTypes(p)) return status;
  if (most < 1) return fake::Misuse("no room for an algorithm");
  *found = {};
  found->workspace = std::min<uint64_t>(preference->Workspace(), 1 << 16);
  fake::Algorithm& chosen = found->algorithm;
  chosen.problem = std::hash<std::string>()(p.Text());
  chosen.workspace = found->workspace;
  chosen.reductions = preference->Reductions();
  for (int i = 0; i < 4; ++i) chosen.alignment[i] = preference->Alignment(i);
  *count = 1;
  return fake::kSuccess;
}

int cublasLtMatmul(fake::Handle* handle, fake::Desc* desc, const float* alpha, const void* a,
                   fake::Layout* a_layout, const void* b, fake::Layout* b_layout, const float* beta,
                   const void* c, fake::Layout* c_layout, void* d, fake::Layout* d_layout,
                   const fake::Algorithm* algorithm, void* workspace, size_t bytes, void* stream) {
  const fake::Problem p = {desc, a_layout, b_layout, c_layout, d_layout};
  if (handle->device != fake::Current()) return fake::Misuse("the handle is another device's");
  if (*beta != 0 || c != d) return fake::Misuse("C would be added");
  if (const int status = fake::CheckShapes(p)) return status;
  if (const int status = fake::CheckTypes(p)) return status;
  if (const int status = fake::CheckArrays(p, *algorithm, a, b, d, workspace, bytes)) return status;
  return fake::Start(p, *algorithm, *alpha, a, b, d, workspace, stream);
}

}  // extern "C"
#pragma GCC visibility pop
