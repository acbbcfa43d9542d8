package worker

import (
	"os"
	"strings"
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
