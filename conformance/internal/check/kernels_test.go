package check

import "testing"

// A kernel that the machine cannot run is not one that no sample reaches.
func TestOfMachine(t *testing.T) {
	for reason, want := range map[string]bool{
		"built for 80, this is 70":                        true,
		"needs an architecture >=90":                      true,
		"needs avx512_bf16, which this CPU lacks":         true,
		"not built into this library":                     true,
		"not emulated: its file is compiled by nvcc only": true,
		"this machine lacks OpenBLAS":                     true,
		"needs N % 8 == 0":                                false,
		"needs a call that this machine lacks":            false,
		"":                                                false,
	} {
		if got := ofMachine(reason); got != want {
			t.Errorf("ofMachine(%q) = %t", reason, got)
		}
	}
}
