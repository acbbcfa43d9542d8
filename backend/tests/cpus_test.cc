// Tests of how many CPUs and how much cache a machine has, as its files say. Prints "ok N checks";
// a failed check prints its line and the exit code is 1.
#include "opcast/cpus.h"

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace {

int64_t checks = 0, failures = 0;

void Check(bool ok, int line, double detail = 0) {
  ++checks;
  if (!ok && failures++ < 20) std::printf("cpus_test.cc:%d: failed (%.17g)\n", line, detail);
}
#define CHECK(...) Check(__VA_ARGS__, __LINE__)
#define CHECK_FOR(detail, ...) Check(__VA_ARGS__, __LINE__, detail)

// What `read` finds on a machine as its files describe it.
template <class Read>
int64_t OnMachine(const std::map<std::string, std::string>& files, Read read) {
  std::string root = std::filesystem::temp_directory_path() / "opcast-cpus-XXXXXX";
  if (mkdtemp(root.data()) == nullptr) return -1;
  for (const auto& [name, text] : files) {
    std::filesystem::create_directories((root + name).substr(0, (root + name).rfind('/')));
    std::ofstream(root + name) << text;
  }
  const int64_t found = read(root);
  std::filesystem::remove_all(root);
  return found;
}

int64_t Cpus(const std::map<std::string, std::string>& files) {
  return OnMachine(files, opcast::detail::QuotaCpus);
}

void TestCache() {
  const auto bytes = [](const std::map<std::string, std::string>& files) {
    return OnMachine(files, opcast::detail::LastCacheBytes);
  };
  const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index";
  CHECK(bytes({}) == 0);
  CHECK(bytes({{folder + "0/size", "32K\n"}, {folder + "2/size", "1024K\n"}}) == 1 << 20);
  CHECK(bytes({{folder + "3/size", "32768K\n"}, {folder + "2/size", "1M\n"}}) == 32 << 20);
  CHECK(bytes({{folder + "3/size", "words"}}) == 0);
}

constexpr char kMounts[] =
    "22 28 0:20 / /proc rw,nosuid shared:12 - proc proc rw\n"
    "broken\n"
    "33 24 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr char kOldMounts[] =
    "40 32 0:33 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "41 32 0:34 / /sys/fs/cgroup/cpu,cpuacct rw shared:18 - cgroup cgroup rw,cpu,cpuacct\n";

void TestQuotas() {
  const std::string group = "/proc/self/cgroup", mounts = "/proc/self/mountinfo";
  const std::string v2 = "/sys/fs/cgroup", v1 = "/sys/fs/cgroup/cpu,cpuacct";
  CHECK(Cpus({}) == 0);
  CHECK(Cpus({{group, "0::/\n"}, {mounts, kMounts}}) == 0);
  const auto one = [&](const std::string& text) {
    return Cpus({{group, "0::/a/b\n"}, {mounts, kMounts}, {v2 + "/a/b/cpu.max", text}});
  };
  CHECK(one("200000 100000\n") == 2 && one("150000 100000\n") == 2 && one("1000 100000\n") == 1);
  CHECK(one("max 100000\n") == 0 && one("max") == 0 && one("300000") == 3 && one("") == 0);
  CHECK(one("-1 100000") == 0 && one("100000 0") == 0 && one("words") == 0);
  CHECK(one("9223372036854775807 1") > 1000);
  // The tightest of the group and its parents.
  CHECK(Cpus({{group, "0::/a/b\n"},
              {mounts, kMounts},
              {v2 + "/cpu.max", "900000 100000"},
              {v2 + "/a/cpu.max", "300000 100000"},
              {v2 + "/a/b/cpu.max", "500000 100000"}}) == 3);
  // In a container: the group is the host's, and what is mounted is the container's.
  for (const char* where : {"/docker/0123\n", "/../../docker/0123\n", "/docker/0123/\n", "\n"}) {
    CHECK(Cpus({{group, std::string("0::") + where},
                {mounts, kMounts},
                {"/sys/fs/docker/0123/cpu.max", "100000 100000"},
                {v2 + "/cpu.max", "400000 100000"}}) == 4);
  }
  const std::string below =
      "33 24 0:28 /docker/0123 /mnt/c\\040g rw - cgroup2 cgroup2 rw,nsdelegate\n";
  for (const auto& [where, cpus] : std::map<std::string, int>{
           {"/docker/0123/x", 2}, {"/docker/0123", 4}, {"/docker/01234/x", 4}, {"/x", 4}}) {
    CHECK_FOR(cpus, Cpus({{group, "0::" + where + "\n"},
                          {mounts, below},
                          {"/mnt/c g/x/cpu.max", "200000 100000"},
                          {"/mnt/c g/cpu.max", "400000 100000"}}) == cpus);
  }
  // Version 1, alone and beside version 2.
  const auto old = [&](const std::string& quota, const std::string& more) {
    return Cpus({{group, "5:cpuset:/z\n4:cpu,cpuacct:/a:b\n0::/c\n"},
                 {mounts, kOldMounts + more},
                 {v1 + "/a:b/cpu.cfs_quota_us", quota},
                 {v1 + "/a:b/cpu.cfs_period_us", "50000\n"},
                 {v2 + "/c/cpu.max", "200000 100000"}});
  };
  CHECK(old("150000\n", "") == 3 && old("-1\n", "") == 0);
  CHECK(old("150000\n", kMounts) == 2 && old("50000\n", kMounts) == 1);
  CHECK(opcast::detail::AvailableCpus() >= 1);
}

}  // namespace

int main() {
  TestCache();
  TestQuotas();
  if (failures > 0) return 1;
  std::printf("ok %lld checks\n", static_cast<long long>(checks));
}
