package conformance_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The script that carries the suite to a machine with a GPU parses, and says how it is used.
func TestGPUScript(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "bash", "-n", "gpu.sh").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), "bash", "gpu.sh").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "conformance/gpu.sh pack") {
		t.Errorf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "set -euo") {
		t.Errorf("the usage holds code:\n%s", out)
	}
}

// The sanitizers watch the workers, tell what they find in the exit code, and say so if they watched none. Their logs of earlier runs
// count no more.
func TestGPUScriptSanitizes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	for name, text := range map[string]string{
		"bin/nvidia-smi": "#!/bin/bash\necho a GPU\n",
		// Its arguments: --tool NAME --report-api-errors no --log-file FILE PROGRAM...
		"bin/compute-sanitizer": "#!/bin/bash\nlog=${6/\\%p/$$}\nprintf '%s\\n' '========= COMPUTE-SANITIZER' \"$FOUND\" >\"$log\"\nexec \"${@:7}\"\n",
		// As opcast does: workers are started by the interpreter that --python names, which the tool asks for other things, too.
		"opcast":               "#!/bin/bash\nwhile [[ $1 != --python ]]; do shift; done\n\"$2\" -c 'print(\"asked\")'\n\"$2\" -B \"$WORKER\"\n",
		"main.py":              "print('a worker')\n",
		"wheels/ml_dtypes.whl": "",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile("gpu.sh")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "gpu.sh"), script, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		found, worker, want string
		code                int
	}{
		{"========= ERROR SUMMARY: 0 errors", "main.py", "memcheck: nothing found", 0},
		{"========= Invalid __global__ write of size 4 bytes", "main.py", "Invalid __global__ write", 86}, // of a process that was ended
		{"========= Invalid __global__ write of size 4 bytes\n========= ERROR SUMMARY: 1 error", "main.py", "Invalid __global__ write", 86},
		{"========= ERROR SUMMARY: 0 errors", "other.py", "it watched no process", 86},
		{"========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)", "main.py", "memcheck: nothing found", 0},
	} {
		worker := filepath.Join(dir, test.worker)
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "gpu.sh"), "sanitize")
		cmd.Env = append(os.Environ(), "PATH="+path, "PYTHON="+os.Getenv("OPCAST_TEST_PYTHON"), "DEVICE=cuda", "TOOLS=memcheck", "FOUND="+test.found, "WORKER="+worker)
		out, _ := cmd.CombinedOutput() // the code says more
		code := cmd.ProcessState.ExitCode()
		if test.worker == "main.py" && !strings.Contains(string(out), "a worker") || code != test.code || !strings.Contains(string(out), test.want) {
			t.Errorf("%s, %s: exit code %d, want %d with %q\n%s", test.found, test.worker, code, test.code, test.want, out)
		}
	}
}

// Measurements begin with what no result has, then with what reached least of the hardware's limits. A rehearsal needs no device.
func TestGPUScriptMeasures(t *testing.T) {
	dir := t.TempDir()
	row := `{"op": %q, "time_ns": {"median": 10}, "copy_gbs": {"median": 100}, "bytes": %d, "flops": null}`
	workloads := "[workloads]\nw = {}\n"
	for name, text := range map[string]string{
		"opcast":                       "#!/bin/bash\necho \"$@\"\n",
		"wheels/ml_dtypes.whl":         "",
		"project/opdefs/a/fast.toml":   workloads,
		"project/opdefs/a/slow.toml":   workloads,
		"project/opdefs/new.toml":      workloads,
		"project/opdefs/without.toml":  "doc = 'none'\n",
		"project/bench/gpu/here.json":  `{"rows": [` + fmt.Sprintf(row, "fast", 900) + "," + fmt.Sprintf(row, "slow", 100) + "]}",
		"project/bench/gpu/there.json": `{"rows": [` + fmt.Sprintf(row, "fast", 800) + "]}",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile("gpu.sh")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "gpu.sh"), script, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"--rounds 3": "--device cuda --adaptor torch --resume --report build/measured --json " + dir + "/report/measure.json --rounds 3 new slow fast",
		"--rehearse": "--python venv --adaptor torch --resume --report build/measured --json " + dir + "/report/measure.json --rehearse new slow fast",
	} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "gpu.sh"), append([]string{"measure"}, strings.Fields(words)...)...)
		cmd.Env = append(os.Environ(), "PYTHON="+os.Getenv("OPCAST_TEST_PYTHON"), "DEVICE=cuda")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want %s\n%s", words, err, want, out)
		}
	}
}
