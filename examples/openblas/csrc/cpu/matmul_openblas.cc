// c = a @ b by OpenBLAS, in float, if this machine has it.
//
// The library is opened when a call first asks for this kernel, and not linked: a collection that
// is linked with a library cannot be loaded without it, this one then uses its other kernel.
//
// OpenBLAS computes with one thread, for one block of c at a time. Which blocks there are depends
// on the shape only, so results have the same bits for every number of threads. Within a block,
// the order of a sum may depend on how many rows and columns the block has. That is why the
// definition does not promise that slices of a along M give slices of c.
#include <cblas.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "matmul.gen.h"

namespace linalg_ops {
namespace {

constexpr int64_t kRows = 128, kColumns = 512;  // of a block

// OpenBLAS, or the reason why it is not there.
struct Library {
  decltype(&scipy_cblas_sgemm) multiply = nullptr;
  std::string reason;

  Library() {
    const char* path = std::getenv("LINALG_OPENBLAS");
    void* library = dlopen(path == nullptr ? "libscipy_openblas.so" : path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      reason = std::string("this machine lacks OpenBLAS, whose path LINALG_OPENBLAS can give: ") +
               dlerror();
      return;
    }
    void* threads = dlsym(library, "scipy_openblas_set_num_threads");
    void* product = dlsym(library, "scipy_cblas_sgemm");
    if (threads == nullptr || product == nullptr) {
      reason =
          "this machine lacks OpenBLAS of scipy-openblas32: LINALG_OPENBLAS names another library";
      return;
    }
    // For all that use this copy of the library, and that is this collection: NumPy and SciPy have
    // copies of other names.
    reinterpret_cast<decltype(&scipy_openblas_set_num_threads)>(threads)(1);
    multiply = reinterpret_cast<decltype(multiply)>(product);
  }
};

// Stays open until the process ends.
const Library& OpenBlas() {
  static const Library* const library = new Library;
  return *library;
}

// Writes a block of one product.
void Multiply(const MatmulArgs& args, int64_t batch, int64_t row, int64_t column) {
  const auto rows = static_cast<blasint>(std::min(kRows, args.M - row));
  const auto columns = static_cast<blasint>(std::min(kColumns, args.N - column));
  const auto depth = static_cast<blasint>(args.K), width = static_cast<blasint>(args.N);
  const float* a = args.a + (batch * args.M + row) * args.K;
  float* c = args.c + (batch * args.M + row) * args.N + column;
  OpenBlas().multiply(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, depth, 1, a,
                      std::max(1, depth), args.b + column, width, 0, c, width);
}

}  // namespace

const char* MatmulOpenblasSupported(const MatmulArgs&, const opcast::Launch&) {
  const Library& library = OpenBlas();
  return library.multiply == nullptr ? library.reason.c_str() : nullptr;
}

opcast::Status MatmulOpenblas(const MatmulArgs& args, const opcast::Launch& launch) {
  const int64_t down = (args.M + kRows - 1) / kRows;
  const int64_t across = (args.N + kColumns - 1) / kColumns;
  const auto blocks = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t batch = i / across / down;
      Multiply(args, batch, i / across % down * kRows, i % across * kColumns);
    }
  };
  opcast::ParallelFor(launch, args.batch * down * across, 1, blocks);
  return opcast::Status::Ok();
}

}  // namespace linalg_ops
