package worker

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Processor is what the system tells of its first processor, such as "model name"; empty where it does not.
func Processor() map[string]string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return nil
	}
	fields := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, found := strings.Cut(line, ":")
		if !found {
			break // the empty line behind a processor
		}
		fields[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return fields
}

// GPU is how NVIDIA's driver calls the first GPU; empty for other kinds of devices, and where there is no answer.
func GPU(kind string) string {
	if kind != "cuda" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // a driver that hangs shall not cost the report
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=name", "--format=csv,noheader", "--id=0").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
