// Reads the affinity mask, and the quotas of both versions of Linux control groups.
//
// /proc/self/cgroup names the group of the process within each hierarchy, /proc/self/mountinfo
// where the hierarchies are mounted. In a container, the group may be one that only the host sees,
// and its folder missing below the mount. The walk up to the mount then meets the first folder
// there is, which is the group of the container.
#include "opcast/cpus.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace opcast::detail {
namespace {

#if defined(__linux__)

// 0 if the kernel does not tell.
int AffinityCpus() {
  for (int size = CPU_SETSIZE; size <= 1 << 20; size *= 2) {  // the kernel's mask has to fit in
    std::vector<cpu_set_t> mask(static_cast<size_t>(size / CPU_SETSIZE));
    const size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0) return CPU_COUNT_S(bytes, mask.data());
  }
  return 0;
}

#else

int AffinityCpus() { return 0; }

#endif

// Whether a list with commas has the item.
bool Lists(const std::string& list, const std::string& item) {
  return ("," + list + ",").find("," + item + ",") != std::string::npos;
}

// Paths in mountinfo have \040 for a space, and three octal digits for some other characters, too.
std::string Unescape(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](size_t k) { return i + k < text.size() ? text[i + k] - '0' : -1; };
    if (text[i] == '\\' && digit(1) >= 0 && digit(2) >= 0 && digit(3) >= 0) {
      out += static_cast<char>(digit(1) * 64 + digit(2) * 8 + digit(3));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// A hierarchy of groups, version 1 or 2: the group that is mounted, and where.
struct Mount {
  int version;
  std::string group, point;
};

// Reads "36 35 98:0 /group /point rw,noatime shared:1 - cgroup2 cgroup rw,nsdelegate". Version 0
// stands for whatever has no CPU quotas.
Mount ParseMount(const std::string& line) {
  Mount mount{0, "", ""};
  std::string skipped, type, options;
  std::istringstream words(line);
  words >> skipped >> skipped >> skipped >> mount.group >> mount.point;
  while (words >> skipped && skipped != "-") {
  }
  if (!(words >> type >> skipped >> options)) return mount;
  if (type == "cgroup2") mount.version = 2;
  if (type == "cgroup" && Lists(options, "cpu")) mount.version = 1;
  mount.group = Unescape(mount.group), mount.point = Unescape(mount.point);
  return mount;
}

// The group of the process in the hierarchy with CPU quotas; empty if there is none. Lines are
// "0::/group" for version 2 and "4:cpu,cpuacct:/group" for version 1.
std::string FindGroup(const std::string& root, int version) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version == 2 ? controllers.empty() : Lists(controllers, "cpu"))
      return line.substr(second + 1);
  }
  return "";
}

// The part of the group's path below what is mounted; empty for the mounted group itself, and for
// one elsewhere.
std::string Below(const std::string& group, const std::string& mounted) {
  const std::string prefix = mounted == "/" ? "" : mounted;
  if (group.compare(0, prefix.size(), prefix) != 0) return "";
  std::string rest = group.substr(prefix.size());
  while (!rest.empty() && rest.back() == '/') rest.pop_back();
  if (!rest.empty() && rest.front() != '/') return "";
  return (rest + "/").find("/../") == std::string::npos ? rest : "";
}

// The quota of one folder, in whole CPUs; 0 if it has none.
int FolderCpus(int version, const std::string& folder) {
  int64_t quota = 0, period = 100000;  // in microseconds; a quota may also be "max" or -1
  if (version == 2) {
    std::ifstream(folder + "/cpu.max") >> quota >> period;
  } else {
    std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  }
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::min<int64_t>((quota - 1) / period + 1, 1 << 20));
}

// The smaller of two numbers of CPUs, of which 0 is no limit.
int Fewer(int a, int b) { return a == 0 || b == 0 ? a + b : std::min(a, b); }

}  // namespace

int QuotaCpus(const std::string& root) {
  int cpus = 0;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const Mount mount = ParseMount(line);
    if (mount.version == 0) continue;
    std::string below = Below(FindGroup(root, mount.version), mount.group);
    const std::string point = root + mount.point;
    while (true) {
      cpus = Fewer(cpus, FolderCpus(mount.version, point + below));
      if (below.empty()) break;
      below.resize(below.rfind('/'));
    }
  }
  return cpus;
}

int AvailableCpus() {
  const int cpus = Fewer(AffinityCpus(), QuotaCpus(""));
  return cpus > 0 ? cpus : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

int64_t LastCacheBytes(const std::string& root) {
  int64_t most = 0;
  for (const char* index : {"0", "1", "2", "3", "4"}) {
    int64_t size = 0;
    std::string unit;
    std::ifstream(root + "/sys/devices/system/cpu/cpu0/cache/index" + index + "/size") >> size >>
        unit;
    most = std::max(most, unit == "M" ? size << 20 : size << 10);
  }
  return most;
}

}  // namespace opcast::detail
