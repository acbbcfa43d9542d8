package expr

import "testing"

func TestLinear(t *testing.T) {
	for text, want := range map[string]string{
		"N": "1, 0", "2*N": "2, 0", "N*B": "B, 0", "-(N - 1)": "-1, 1", "B*(N + 1)": "B, B", "N - N": "0, 0", "3 - 2*N": "-2, 3",
		"N*N": "", "N // 2": "", "max(N, 1)": "", "max(1, 2, N)": "", "2 ** N": "", "B*N*(C + 1)": "B*(C + 1), 0",
	} {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if coef, rest, ok := Linear(e, "N"); ok {
			got = coef.Text + ", " + rest.Text
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
