package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// gpus are those of the vendors whose devices a manifest names; of NVIDIA's where it names none.
func gpus(ctx context.Context, devices []string, system fs.FS) (out []Finding) {
	rocm := slices.Contains(devices, "rocm")
	if !rocm || slices.Contains(devices, "cuda") {
		out = append(out, nvidia(ctx))
	}
	if rocm {
		out = append(out, amd(system))
	}
	return out
}

// nvidia asks the driver's own program, which is installed with it.
func nvidia(ctx context.Context) Finding {
	out, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader").Output()
	if lines := strings.Fields(string(out)); err != nil || len(lines) == 0 {
		return Finding{"GPU", Absent, "nvidia-smi finds none: kernels for CUDA are compiled at most", "install NVIDIA's driver, if there is a GPU"}
	}
	return Finding{"GPU", Works, strings.Join(strings.Split(strings.TrimSpace(string(out)), "\n"), "; "), ""}
}

// amd reads what the kernel's driver of AMD's GPUs tells, below the root of the system: it needs none of ROCm's programs.
func amd(system fs.FS) Finding {
	var found []string
	nodes, _ := fs.Glob(system, "sys/class/kfd/kfd/topology/nodes/*/properties") // only a bad pattern is an error
	for _, node := range nodes {
		text, err := fs.ReadFile(system, node)
		if err != nil {
			continue // it belongs to another user's container
		}
		for line := range strings.Lines(string(text)) {
			if value, is := strings.CutPrefix(strings.TrimSpace(line), "gfx_target_version "); is {
				if name := gfx(value); name != "" {
					found = append(found, name)
				}
			}
		}
	}
	if len(found) == 0 {
		return Finding{"GPU of AMD's", Absent, "/sys/class/kfd has none: kernels for ROCm are compiled at most", "install AMD's driver, if there is a GPU"}
	}
	return Finding{"GPU of AMD's", Works, strings.Join(found, "; "), ""}
}

// gfx is the architecture of which the driver tells the digits: 90010 is gfx90a. A processor that is no GPU has the number 0.
func gfx(version string) string {
	n, err := strconv.Atoi(version)
	if err != nil || n <= 0 {
		return ""
	}
	return fmt.Sprintf("gfx%d%x%x", n/10000, n/100%100, n%100)
}
