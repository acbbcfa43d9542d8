package workload

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef/load"
)

const definition = `doc = "Multiply."
kind = 0
dtypes = { T = ["f32", "bf16"] }
inputs = [
  { name = "a",    type = "T[*, K]", doc = "Rows." },
  { name = "b",    type = "T[K, N]", doc = "Matrix." },
  { name = "acc",  type = "f32[*, N]", mutated = true, doc = "Sums." },
  { name = "bias", type = "T[N]", optional = true, doc = "Bias." },
]
attrs = [
  { name = "pad",  type = "int", default = 2, doc = "Columns of zeros." },
  { name = "sums", type = "bool", default = false, doc = "Whether to sum y." },
]
let.P = "N + pad"
outputs = [
  { name = "y", type = "T[*, P]", doc = "Product." },
  { name = "s", type = "f32[*]", present_if = "sums", doc = "Sums of rows." },
]
flops = "2*batch*P*K"
reference = "return a @ b, None, acc"
[workloads.small]
"*" = [2, 3]
K = 4
N = 5
T = "bf16"
bias = false
[workloads.wide]
"*" = []
K = 1
N = 10
pad = 0
sums = true
`

// TestCost counts by hand: 2 bytes for bfloat16, 4 for float32, overwritten arrays twice.
func TestCost(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"opcast.toml": "name = \"demo\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n", "opdefs/multiply.toml": definition,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, diags, err := load.Load(dir)
	if err != nil || len(diags) > 0 {
		t.Fatal(diags, err)
	}
	want := map[string][2]int64{
		"small": {2*6*4 + 2*4*5 + 2*4*6*5 + 2*6*7, 2 * 6 * 7 * 4},
		"wide":  {4*1 + 4*10 + 2*4*10 + 4*10 + 4*10 + 4, 2 * 10},
	}
	for name, w := range want {
		call, ok := ByName(p.Ops[0], name)
		bytes, err := call.Bytes()
		flops, err2 := call.Flops()
		if !ok || err != nil || err2 != nil || bytes != w[0] || flops != w[1] {
			t.Errorf("%s: got %d bytes, %d operations, %v %v; want %v", name, bytes, flops, err, err2, w)
		}
	}
	if _, ok := ByName(p.Ops[0], "other"); ok {
		t.Error("a workload that is not there")
	}
}
