package rpc

import (
	"os"
	"strconv"
	"strings"
)

// minMemory is what a worker may always have: frameworks need some of it before they compute anything.
const minMemory = 4 << 30

// Allowance is half of the memory that this machine or container has: what a worker may take before it counts as a runaway.
func Allowance() int64 {
	meminfo, _ := os.ReadFile("/proc/meminfo")            // empty where there is none
	cgroup, _ := os.ReadFile("/sys/fs/cgroup/memory.max") // "max" where there is no limit
	return allowance(string(meminfo), string(cgroup))
}

func allowance(meminfo, cgroup string) int64 {
	var have int64
	for line := range strings.Lines(meminfo) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "MemTotal:" {
			have = number(fields[1]) << 10
		}
	}
	if limit := number(strings.TrimSpace(cgroup)); limit > 0 && (have == 0 || limit < have) {
		have = limit
	}
	if have == 0 {
		return 0
	}
	return max(have/2, minMemory)
}

// number is zero for what is none.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
