package expr

import "testing"

// TestEvalCondition holds what is known of a condition against the truth tables of three-valued logic.
func TestEvalCondition(t *testing.T) {
	dtypes := map[string]string{"T": "bf16"}
	for text, want := range map[string]struct{ typesOnly, constants, sizes Truth }{
		"T == bf16":               {KnownTrue, KnownTrue, KnownTrue},
		"f32 == T":                {KnownFalse, KnownFalse, KnownFalse},
		"T != f32":                {KnownTrue, KnownTrue, KnownTrue},
		"N > 8":                   {Undecided, Undecided, KnownFalse},
		"N == 7":                  {Undecided, Undecided, KnownTrue},
		"1 > 2":                   {Undecided, KnownFalse, KnownFalse},
		"T == bf16 and N > 8":     {Undecided, Undecided, KnownFalse},
		"T == f32 and N > 8":      {KnownFalse, KnownFalse, KnownFalse},
		"T == bf16 or N > 8":      {KnownTrue, KnownTrue, KnownTrue},
		"T == f32 or N > 8":       {Undecided, Undecided, KnownFalse},
		"not (T == f32 or N > 8)": {Undecided, Undecided, KnownTrue},
		"not T == bf16":           {KnownFalse, KnownFalse, KnownFalse},
		"aligned(x, 16)":          {Undecided, Undecided, Undecided},
		"N % Z == 0":              {Undecided, Undecided, Undecided},
	} {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got := []Truth{e.EvalCondition(dtypes, nil), e.EvalCondition(dtypes, NoValues{}), e.EvalCondition(dtypes, testEnv)}
		if got[0] != want.typesOnly || got[1] != want.constants || got[2] != want.sizes {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}
