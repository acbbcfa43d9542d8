#include <algorithm>
#include <vector>

#include "../bug.h"
#include "../numbers.h"
#include "add_rows.gen.h"

namespace museum_ops {
namespace {

constexpr int64_t kVector = 8;

// Adds the numbers of a row from begin to end.
template <class T>
void Add(double* row, const T* update, int64_t begin, int64_t end) {
  for (int64_t d = begin; d < end; ++d) row[d] += Widen(update[d]);
}

template <class T>
void AddRow(double* row, const T* update, int64_t size) {
  const int64_t whole = size / kVector * kVector;
  const bool twice = whole > 0 && whole < size &&
                     BUG("dotnet/runtime#92820",
                         "The rest of a row was done as a last whole vector, which changed numbers "
                         "again in place.");
  Add(row, update, 0, whole);
  Add(row, update, twice ? size - kVector : whole, size);
}

}  // namespace

opcast::Status AddRows(const AddRowsArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    const bool unwrapped =
        BUG("microsoft/onnxruntime#7752",
            "Negative ids did not count from the end, but led before the first row.");
    std::vector<double> sums(static_cast<size_t>(a.R * a.D));
    std::transform(a.table, a.table + a.R * a.D, sums.begin(), [](auto x) { return Widen(x); });
    for (int64_t n = 0; n < a.N; ++n) {
      const int64_t id = a.ids[n] < 0 && !unwrapped ? a.ids[n] + a.R : a.ids[n];
      AddRow(sums.data() + id * a.D, a.updates + n * a.D, a.D);
    }
    std::transform(sums.begin(), sums.end(), a.table,
                   Narrow<typename std::decay_t<decltype(a)>::T>);
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
