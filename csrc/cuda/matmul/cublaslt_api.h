// The part of NVIDIA's cuBLASLt that kernels here use, opened when it is first asked for: no header
// of it is needed to build, and no copy of it is linked or shipped. cublaslt_header_test.cc holds
// the numbers against NVIDIA's header.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace opcast_ops::cublaslt {

// cudaDataType_t.
enum Type : int32_t { kF32 = 0, kF16 = 2, kBf16 = 14, kF8E4m3 = 28 };

constexpr int32_t kCompute32F = 68;      // CUBLAS_COMPUTE_32F: no TF32
constexpr int32_t kTransposed = 1;       // CUBLAS_OP_T
constexpr int32_t kOuterVectors = 3;     // CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F
constexpr uint32_t kInComputeType = 2;   // CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
constexpr size_t kOuterSince = 120'900;  // the version with those scales

// cublasLtMatmulDescAttributes_t.
enum DescAttribute : int {
  kTransA = 3,
  kTransB = 4,
  kEpilogue = 7,
  kBiasPointer = 8,
  kAScalePointer = 17,
  kBScalePointer = 18,
  kBiasType = 26,
  kAScaleMode = 31,
  kBScaleMode = 32,
};

// cublasLtMatrixLayoutAttribute_t.
enum LayoutAttribute : int { kBatchCount = 5, kBatchStride = 6 };

// cublasLtMatmulPreferenceAttributes_t.
enum PreferenceAttribute : int {
  kMaxWorkspace = 1,
  kReductionSchemes = 3,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8,
};

// cublasLtEpilogue_t.
enum Epilogue : uint32_t { kPlain = 1, kBias = 4, kSumsOfB = 512 };

// cublasLtMatmulAlgo_t and cublasLtMatmulHeuristicResult_t.
struct Algorithm {
  uint64_t data[8];
};
struct Found {
  Algorithm algorithm;
  size_t workspace;
  int32_t status;
  float waves;
  int32_t reserved[4];
};

using Handle = struct HandleTag*;
using Desc = struct DescTag*;
using Layout = struct LayoutTag*;
using Preference = struct PreferenceTag*;

// The functions, or the reason why they are not there. A status is 0 for success.
struct Api {
  size_t (*get_version)() = nullptr;
  int (*create)(Handle*) = nullptr;
  int (*desc_create)(Desc*, int compute, int scale) = nullptr;
  int (*desc_destroy)(Desc) = nullptr;
  int (*desc_set)(Desc, int attribute, const void* value, size_t size) = nullptr;
  int (*layout_create)(Layout*, int type, uint64_t rows, uint64_t columns, int64_t ld) = nullptr;
  int (*layout_destroy)(Layout) = nullptr;
  int (*layout_set)(Layout, int attribute, const void* value, size_t size) = nullptr;
  int (*preference_create)(Preference*) = nullptr;
  int (*preference_destroy)(Preference) = nullptr;
  int (*preference_set)(Preference, int attribute, const void* value, size_t size) = nullptr;
  int (*find)(Handle, Desc, Layout a, Layout b, Layout c, Layout d, Preference, int most, Found*,
              int* count) = nullptr;
  int (*multiply)(Handle, Desc, const void* alpha, const void* a, Layout, const void* b, Layout,
                  const void* beta, const void* c, Layout, void* d, Layout, const Algorithm*,
                  void* workspace, size_t bytes, void* stream) = nullptr;
  std::string reason;

  Api();

 private:
  template <class Function>
  void Take(void* library, const char* name, Function** to) {
    *to = reinterpret_cast<Function*>(dlsym(library, name));
    if (*to == nullptr) reason = std::string("this machine lacks ") + name + " in its cuBLASLt";
  }
};

// The library that the framework has loaded, else the one that the loader finds.
inline void* OpenLibrary() {
  for (const int flags : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW | RTLD_LOCAL}) {
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
      if (void* library = dlopen(name, flags)) return library;
    }
  }
  return nullptr;
}

inline Api::Api() {
  void* const library = OpenLibrary();
  if (library == nullptr) {
    reason =
        "this machine lacks libcublasLt.so.13 and libcublasLt.so.12: neither is loaded, and the "
        "loader finds none";
    return;
  }
  Take(library, "cublasLtGetVersion", &get_version);
  Take(library, "cublasLtCreate", &create);
  Take(library, "cublasLtMatmulDescCreate", &desc_create);
  Take(library, "cublasLtMatmulDescDestroy", &desc_destroy);
  Take(library, "cublasLtMatmulDescSetAttribute", &desc_set);
  Take(library, "cublasLtMatrixLayoutCreate", &layout_create);
  Take(library, "cublasLtMatrixLayoutDestroy", &layout_destroy);
  Take(library, "cublasLtMatrixLayoutSetAttribute", &layout_set);
  Take(library, "cublasLtMatmulPreferenceCreate", &preference_create);
  Take(library, "cublasLtMatmulPreferenceDestroy", &preference_destroy);
  Take(library, "cublasLtMatmulPreferenceSetAttribute", &preference_set);
  Take(library, "cublasLtMatmulAlgoGetHeuristic", &find);
  Take(library, "cublasLtMatmul", &multiply);
}

// Stays open until the process ends. What is missing is looked for again by each call: frameworks
// load their copy when they first need it.
inline const Api& Lt() {
  static std::atomic<const Api*> known{nullptr};
  const Api* const before = known.load(std::memory_order_acquire);
  if (before != nullptr && before->reason.empty()) return *before;
  const Api* const made = new Api;
  if (before != nullptr && !made->reason.empty()) {
    delete made;
    return *before;
  }
  known.store(made, std::memory_order_release);  // the one before stays: somebody may read it
  return *made;
}

}  // namespace opcast_ops::cublaslt
