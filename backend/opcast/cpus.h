// How many CPUs the process may use, and their cache.
#pragma once

#include <cstdint>
#include <string>

namespace opcast::detail {

// The CPUs of the process's affinity mask, or as many as the quotas of its control groups are
// worth, if these are fewer. At least 1.
int AvailableCpus();

// The smallest CPU quota of the process's control groups (cgroups) and of those that contain them,
// rounded up to whole CPUs: a pool of that size can use the whole quota. 0 if there is no quota.
// `root` comes before the path of every file, for tests.
int QuotaCpus(const std::string& root);

// The size of the largest cache of the first CPU, in bytes; 0 where the system does not tell.
// glibc's sysconf multiplies it by the number of CPUs of virtual machines that do not say who
// shares it.
int64_t LastCacheBytes(const std::string& root);

}  // namespace opcast::detail
