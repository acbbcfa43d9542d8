package e2e

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The decoder writes words of the play that it was trained on, the same ones in each framework.
func TestLlama(t *testing.T) {
	t.Parallel()
	out := llama(t, "", "--tokens", "60")
	const verdict = "torch, jax and numpy give the same tokens.\n"
	text, found := strings.CutSuffix(out, verdict)
	if !found {
		t.Fatalf("prints %q, want %q at its end", out, verdict)
	}
	play, err := os.ReadFile(filepath.Join(root(t), "examples", "llama", "romeo_and_juliet.txt"))
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile(`[A-Za-z]+`)
	known := map[string]bool{}
	for _, w := range word.FindAllString(string(play), -1) {
		known[w] = true
	}
	words, right := word.FindAllString(text, -1), 0
	for _, w := range words {
		if known[w] {
			right++
		}
	}
	if len(words) < 100 || right*10 < len(words)*9 {
		t.Errorf("%d of %d words are of the play, want 90 %% of at least 100:\n%s", right, len(words), text)
	}
	t.Log(out)
}

// Greedy tokens are those of transformers, with the example's model and with one that it was not written for.
func TestLlamaAgreesWithTransformers(t *testing.T) {
	t.Parallel()
	tokenizer := filepath.Join(root(t), "examples", "llama", "model", "tokenizer.json")
	random := t.TempDir()
	made := run(t, command(t, root(t), python(t), filepath.Join("internal", "e2e", "llama_random.py"), random, tokenizer))
	if !strings.HasSuffix(made, "2\n") {
		t.Errorf("the model of random weights is in %q files, want 2", made)
	}
	models := []string{random, filepath.Dir(tokenizer)}
	if testing.Short() {
		models = models[:1]
	}
	for _, model := range models {
		out := llama(t, "check.py", model)
		if got := strings.Count(out, ": 240 greedy tokens, as transformers' LlamaForCausalLM\n"); got != 6 {
			t.Errorf("%s: %d lines agree, want 6:\n%s", model, got, out)
		}
	}
}

// Losses fall, and they and the norms of gradients are the same with one process, with parameters split over two, and on meshes of 8 devices.
func TestLlamaTraining(t *testing.T) {
	t.Parallel()
	alone := losses(t, llama(t, "train.py", "--steps", "6"))
	if len(alone) != 12 || !(alone[10] < alone[0]-0.05) {
		t.Fatalf("losses and gradients %v, want six of each, and losses that fall", alone)
	}
	script := filepath.Join("examples", "llama", "train.py")
	split := command(t, root(t), python(t), "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", script, "--steps", "6")
	for name, out := range map[string]string{
		"two processes of FSDP2": run(t, split),
		"jax":                    llama(t, "train.py", "--steps", "6", "--framework", "jax"),
		"a mesh of 4 x 2":        llama(t, "train.py", "--steps", "6", "--framework", "jax", "--mesh", "4x2"),
	} {
		got := losses(t, out)
		if len(got) != len(alone) {
			t.Fatalf("%s: %d losses, want %d:\n%s", name, len(got), len(alone), out)
		}
		for i, loss := range got {
			if !(math.Abs(loss-alone[i]) <= 1e-5) {
				t.Errorf("%s: step %d: %v, want %v of one process", name, i/2+1, loss, alone[i])
			}
		}
	}
}

// What cannot run is said in a line.
func TestLlamaUsage(t *testing.T) {
	other := t.TempDir()
	write(t, filepath.Join(other, "config.json"), []byte(`{"model_type": "mistral"}`))
	config := read(t, filepath.Join(root(t), "examples", "llama", "model", "config.json"))
	broken, stretched := t.TempDir(), t.TempDir()
	write(t, filepath.Join(broken, "config.json"), config)
	write(t, filepath.Join(broken, "model.safetensors"), []byte("x"))
	old := `{"rope_scaling": {"type": "linear", "factor": 2.0}}`
	write(t, filepath.Join(stretched, "config.json"), []byte(old))
	for _, c := range []struct {
		script, options, want string
	}{
		{"", "--tokens 300", "a prompt of 3 tokens and 300 new ones are more than the 256 that the model and the cache have room for"},
		{"", "--tokens 0", "expected a prompt and a number of new tokens of at least 1"},
		{"", "--temperature 0", "expected a temperature above 0, got 0.0"},
		{"", "--model " + other, "model_type: expected llama, got mistral"},
		{"", "--model nowhere", "No such file or directory: 'nowhere/config.json'"},
		{"", "--seed 3000000000", "argument --seed: expected an int32, got 3000000000"},
		{"", "--framework torch,mxnet", "argument --framework: expected some of torch, jax, numpy, cupy, got mxnet"},
		{"", "--temperature 1e-300 --framework numpy", "the model gives no probabilities: its logits are not finite"},
		{"", "--model " + broken, "model.safetensors: Error while deserializing header: header too small"},
		{"", "--model " + stretched, "rope_type: expected default or llama3, got linear"},
		{"train.py", "--save nowhere", "--save: expected a folder, got nowhere"},
		{"train.py", "--mesh 4x2", "--mesh: only jax simulates devices: start torch with torchrun --nproc-per-node"},
		{"train.py", "--framework jax --mesh 3x1", "expected a number of parts that divides 32 sequences, got 3"},
		{"train.py", "--framework jax --mesh 1x4", "--mesh: expected a number that divides 2 heads, got 4"},
	} {
		words := append([]string{python(t), filepath.Join("examples", "llama", c.script)}, strings.Fields(c.options)...)
		out, err := command(t, root(t), words...).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.HasSuffix(string(out), c.want+"\n") {
			t.Errorf("%s %s: %v\n%s\nwant exit status 2 and %q", c.script, c.options, err, out, c.want)
		}
	}
}

// llama is what a script of the example prints.
func llama(t *testing.T, script string, options ...string) string {
	t.Helper()
	words := append([]string{python(t), filepath.Join("examples", "llama", script)}, options...)
	return run(t, command(t, root(t), words...))
}

// losses are what a training prints of each step: its loss, and the norm of its gradients.
func losses(t *testing.T, out string) []float64 {
	t.Helper()
	return numbers(t, out, `(?:step \d+: loss|, gradients) ([\d.]+)`)
}
