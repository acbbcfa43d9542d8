// Matrix products by cuBLASLt (see cublaslt_api.h), for kernels without device code of their own.
//
// Matrices are column-major, as the library has them: rows in memory that are `ld` apart are the
// columns of a matrix. An algorithm is chosen once for sizes, types, strides and epilogue, for
// pointers to 16 bytes, so bits do not depend on where arrays lie. A product may be split along the
// depth; its parts are then added in float, in the workspace.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cuda/matmul/cublaslt_api.h"
#include "opcast/device.h"
#include "opcast/gpu.h"

namespace opcast_ops::cublaslt {

constexpr uint32_t kAlignment = 16;  // bytes, of all pointers

// Whether a pointer is aligned; null is.
inline bool Aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % kAlignment == 0; }

struct Matrix {
  Type type;
  int64_t rows, columns, ld;
  int64_t stride;  // between the matrices of a batch, in elements
  bool transposed = false;
};

// d = epilogue(alpha * a @ b), as often as there are matrices in the batch.
struct Product {
  Matrix a, b, d;
  int64_t batch = 1;
  Epilogue epilogue = kPlain;
  bool scaled = false;    // by a vector along the rows of d and one along its columns
  int64_t workspace = 0;  // the most bytes that it may take

  std::array<int64_t, 20> Key() const {
    return {a.type,       a.rows,       a.columns, a.ld,      a.stride,
            a.transposed, b.type,       b.rows,    b.columns, b.ld,
            b.stride,     b.transposed, d.type,    d.rows,    d.columns,
            d.ld,         d.stride,     batch,     epilogue,  workspace * 2 + (scaled ? 1 : 0)};
  }
};

// Where the arrays of a product are. What it does not use is null.
struct Arrays {
  const void *a, *b;
  void* d;
  const void* bias = nullptr;  // of the epilogue, read or written
  const float *a_scale = nullptr, *b_scale = nullptr;
  void* workspace = nullptr;
};

// Makes a device the current one, and lets a thread create what a capture elsewhere would forbid.
class Creating {
 public:
  explicit Creating(int device) : guard_(device) {
    if (ok()) cudaThreadExchangeStreamCaptureMode(&mode_);
  }
  ~Creating() {
    if (ok()) cudaThreadExchangeStreamCaptureMode(&mode_);
  }
  Creating(const Creating&) = delete;
  Creating& operator=(const Creating&) = delete;
  bool ok() const { return guard_.status().ok(); }

 private:
  const opcast::gpu::DeviceGuard guard_;
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// The first status that is no success, and the function that returned it.
struct Outcome {
  int status = 0;
  const char* function = "";

  void operator()(const char* name, int returned) {
    if (status == 0 && returned != 0) status = returned, function = name;
  }
  bool ok() const { return status == 0; }
  std::string Text() const {
    return std::string(function) + " returned status " + std::to_string(status);
  }
};

// The library's description of one call, which names its arrays.
class Description {
 public:
  Description(const Product& p, const Arrays& at, Outcome* outcome) {
    (*outcome)("cublasLtMatmulDescCreate", Lt().desc_create(&desc_, kCompute32F, kF32));
    if (!outcome->ok()) return;
    if (p.a.transposed) Set(kTransA, kTransposed, outcome);
    if (p.b.transposed) Set(kTransB, kTransposed, outcome);
    Set(kEpilogue, static_cast<uint32_t>(p.epilogue), outcome);
    if ((p.epilogue & (kBias | kSumsOfB)) != 0) {
      Set(kBiasPointer, at.bias, outcome);
      Set(kBiasType, static_cast<int32_t>(p.d.type), outcome);
    }
    if (!p.scaled) return;
    Set(kAScaleMode, kOuterVectors, outcome);
    Set(kBScaleMode, kOuterVectors, outcome);
    Set(kAScalePointer, at.a_scale, outcome);
    Set(kBScalePointer, at.b_scale, outcome);
  }
  ~Description() {
    if (desc_ != nullptr) Lt().desc_destroy(desc_);
  }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  Desc get() const { return desc_; }

 private:
  template <class Value>
  void Set(DescAttribute attribute, Value value, Outcome* outcome) {
    (*outcome)("cublasLtMatmulDescSetAttribute",
               Lt().desc_set(desc_, attribute, &value, sizeof value));
  }

  Desc desc_ = nullptr;
};

// How a product is computed on a device: chosen once, then only read, by any number of threads.
struct Plan {
  Handle handle = nullptr;
  Layout a = nullptr, b = nullptr, d = nullptr;
  Found found = {};
  int count = 0;  // of algorithms found: 1, or 0 if the library has none
  Outcome outcome;

  Plan(const Product& p, Handle on) : handle(on) {
    Make(p.a, p.batch, &a);
    Make(p.b, p.batch, &b);
    Make(p.d, p.batch, &d);
    if (outcome.ok()) Choose(p);
  }
  ~Plan() {
    for (const Layout layout : {a, b, d}) {
      if (layout != nullptr) Lt().layout_destroy(layout);
    }
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

 private:
  void Make(const Matrix& m, int64_t batch, Layout* to) {
    outcome("cublasLtMatrixLayoutCreate",
            Lt().layout_create(to, m.type, static_cast<uint64_t>(m.rows),
                               static_cast<uint64_t>(m.columns), m.ld));
    if (!outcome.ok() || batch == 1) return;
    const auto count = static_cast<int32_t>(batch);
    outcome("cublasLtMatrixLayoutSetAttribute",
            Lt().layout_set(*to, kBatchCount, &count, sizeof count));
    outcome("cublasLtMatrixLayoutSetAttribute",
            Lt().layout_set(*to, kBatchStride, &m.stride, sizeof m.stride));
  }

  // Asks for the algorithm. Of pointers, the library looks only at how they are aligned.
  void Choose(const Product& p) {
    const auto somewhere = reinterpret_cast<float*>(uintptr_t{kAlignment});
    const Description desc(p, {nullptr, nullptr, nullptr, somewhere, somewhere, somewhere},
                           &outcome);
    Preference preference = nullptr;
    outcome("cublasLtMatmulPreferenceCreate", Lt().preference_create(&preference));
    if (!outcome.ok()) return;
    const auto set = [&](PreferenceAttribute attribute, auto value) {
      outcome("cublasLtMatmulPreferenceSetAttribute",
              Lt().preference_set(preference, attribute, &value, sizeof value));
    };
    set(kMaxWorkspace, static_cast<uint64_t>(p.workspace));
    set(kReductionSchemes, kInComputeType);
    for (const auto which : {kAlignmentA, kAlignmentB, kAlignmentC, kAlignmentD})
      set(which, kAlignment);
    // Not found is no failure: another kernel takes the call.
    if (outcome.ok() &&
        Lt().find(handle, desc.get(), a, b, d, d, preference, 1, &found, &count) != 0)
      count = 0;
    if (count > 0 && found.status != 0) count = 0;
    Lt().preference_destroy(preference);
  }
};

// The library's handle of a device, created when it is first asked for; null if that fails.
inline Handle HandleOn(int device) {
  static std::mutex mutex;
  static auto* const handles = new std::map<int, Handle>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto known = handles->find(device);
  if (known != handles->end()) return known->second;
  const Creating creating(device);
  Handle handle = nullptr;
  if (!creating.ok() || Lt().create(&handle) != 0) return nullptr;
  return (*handles)[device] = handle;
}

// The plan of a product, which is kept; all go when there are too many.
inline std::shared_ptr<const Plan> PlanFor(const Product& p, const opcast::Launch& launch) {
  constexpr size_t kMost = 512;
  using Key = std::pair<int, std::array<int64_t, 20>>;
  static std::mutex mutex;
  static auto* const plans = new std::map<Key, std::shared_ptr<const Plan>>;
  const Key key{launch.device_id, p.Key()};
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto known = plans->find(key);
    if (known != plans->end()) return known->second;
  }
  const Handle handle = HandleOn(launch.device_id);
  if (handle == nullptr) return nullptr;
  const Creating creating(launch.device_id);
  if (!creating.ok()) return nullptr;
  auto plan = std::make_shared<const Plan>(p, handle);
  const std::lock_guard<std::mutex> lock(mutex);
  if (plans->size() >= kMost) plans->clear();
  return (*plans)[key] = plan;
}

// Why the library does not compute a product; null if it does.
inline const char* Refusal(const Product& p, const opcast::Launch& launch) {
  constexpr int64_t kMost = INT32_MAX;
  for (const Matrix* m : {&p.a, &p.b, &p.d}) {
    if (m->rows < 1 || m->columns < 1) return "needs sizes above 0";
    if (m->rows > kMost || m->columns > kMost || p.batch > kMost) return "needs sizes below 2**31";
    if (m->ld < m->rows) return "needs rows that do not overlap";
  }
  const std::shared_ptr<const Plan> plan = PlanFor(p, launch);
  if (plan == nullptr) return "this machine lacks a GPU on which cublasLtCreate succeeds";
  if (!plan->outcome.ok()) return "a function of cuBLASLt failed";
  return plan->count > 0 ? nullptr
                         : "cuBLASLt has no algorithm for these sizes, dtypes and strides";
}

// Computes a product that is not refused, on the stream of the launch.
inline opcast::Status Multiply(const Product& p, const Arrays& at, double alpha,
                               const opcast::Launch& launch) {
  const std::shared_ptr<const Plan> plan = PlanFor(p, launch);
  if (plan == nullptr) return opcast::Status::Error("cublasLtCreate failed");
  Outcome outcome;
  const Description desc(p, at, &outcome);
  const float factor = static_cast<float>(alpha), nothing = 0;
  if (outcome.ok()) {
    outcome("cublasLtMatmul",
            Lt().multiply(plan->handle, desc.get(), &factor, at.a, plan->a, at.b, plan->b, &nothing,
                          at.d, plan->d, at.d, plan->d, &plan->found.algorithm, at.workspace,
                          plan->found.workspace, launch.stream));
  }
  return outcome.ok() ? opcast::Status::Ok() : opcast::Status::Error(outcome.Text());
}

}  // namespace opcast_ops::cublaslt
