// Parameters of kernels: which of the measured calls is nearest to the present one.
#pragma once

#include <cstdint>
#include <string>

#include "opcast/ffi.h"
#include "opcast/launch.h"
#include "opcast/op_table.h"

namespace opcast {

// The number of choices of parameters, of which there is a value for each.
constexpr int ChoicesOf(const Table<Param>& params) {
  int count = params.size() == 0 ? 0 : 1;
  for (const Param& p : params) count *= p.values.size();
  return count;
}

// The value of a parameter in a choice; the last parameter turns fastest.
constexpr int64_t ValueIn(const Table<Param>& params, int choice, int index) {
  for (int i = params.size() - 1; i > index; --i) choice /= params[i].values.size();
  return params[index].values[choice % params[index].values.size()];
}

// 256 times the logarithm to base 2 of a size, exact for powers of two and linear between them; 0
// for sizes below 2.
constexpr int32_t LogOfSize(int64_t size) {
  int32_t whole = 0;
  for (int64_t rest = size; rest > 1; rest /= 2) ++whole;
  if (whole == 0) return 0;
  const uint64_t part = static_cast<uint64_t>(size) - (uint64_t{1} << whole);
  return 256 * whole + static_cast<int32_t>(whole > 8 ? part >> (whole - 8) : part << (8 - whole));
}

// A call that was measured: the number of its architecture, dtypes, logarithms of sizes, and the
// choice that was best.
template <int kDTypes, int kSizes>
struct TunedCall {
  int arch;
  DType dtypes[kDTypes == 0 ? 1 : kDTypes];
  int32_t logs[kSizes == 0 ? 1 : kSizes];
  int choice;
};

// CPUs that are not x86-64.
constexpr int kOtherCpus = 4;

// The number of the architecture on which a launch runs: of a CPU, the instruction set of loops.
int TunedArch(const Launch& launch);

// Its name: "avx2", "sm_90", "gfx90a".
std::string ArchName(const Launch& launch);

// Whether what was measured on one architecture is of use for another one, which has all that the
// first has.
constexpr bool Serves(int device, int measured, int arch) {
  const bool other = device == kDLCPU && (measured == kOtherCpus || arch == kOtherCpus);
  return device == kDLROCM || other ? measured == arch : measured <= arch;
}

// The choice of the measured call that is nearest to this one: of the same dtypes and the nearest
// architecture, that whose sizes differ by the smallest factors. 0, the first values, if there is
// none. Calls of later architectures come last in the table.
template <int kDTypes, int kSizes, size_t kCalls>
int NearestTuned(const TunedCall<kDTypes, kSizes> (&calls)[kCalls], const Launch& launch,
                 const DType (&dtypes)[kDTypes == 0 ? 1 : kDTypes],
                 const int64_t (&sizes)[kSizes == 0 ? 1 : kSizes]) {
  const int arch = TunedArch(launch);
  int choice = 0, found = -1;
  int64_t nearest = 0;
  int32_t logs[kSizes == 0 ? 1 : kSizes] = {};
  for (int i = 0; i < kSizes; ++i) logs[i] = LogOfSize(sizes[i]);
  for (const auto& c : calls) {
    bool same = Serves(launch.device_type, c.arch, arch);
    for (int i = 0; i < kDTypes; ++i) same = same && c.dtypes[i] == dtypes[i];
    if (!same) continue;
    int64_t distance = 0;
    for (int i = 0; i < kSizes; ++i)
      distance += c.logs[i] < logs[i] ? logs[i] - c.logs[i] : c.logs[i] - logs[i];
    if (c.arch == found && distance >= nearest) continue;
    choice = c.choice, found = c.arch, nearest = distance;
  }
  return choice;
}

}  // namespace opcast
