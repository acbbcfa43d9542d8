package rpc

import "testing"

func TestAllowance(t *testing.T) {
	const info = "MemTotal:       33554432 kB\nMemFree:         1000 kB\n"
	for name, test := range map[string]struct {
		meminfo, cgroup string
		want            int64
	}{
		"a machine":           {info, "max\n", 16 << 30},
		"a container":         {info, "17179869184\n", 8 << 30},
		"a wide container":    {info, "68719476736\n", 16 << 30},
		"a small machine":     {"MemTotal: 2097152 kB\n", "", 4 << 30},
		"only a container":    {"", "17179869184\n", 8 << 30},
		"who knows":           {"", "", 0},
		"who knows, nonsense": {"MemTotal: much kB\n", "x", 0},
	} {
		if got := allowance(test.meminfo, test.cgroup); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}
