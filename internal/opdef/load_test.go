package opdef

import "testing"

func TestRepository(t *testing.T) {
	p, diags, err := Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diags {
		t.Error(d)
	}
	for _, op := range p.Ops {
		t.Log(op.Kind, op.Name, op.Family, op.DTypes)
		for _, s := range op.Steps {
			t.Logf("%+v", s)
			if s.Coef != nil { t.Log(s.Coef.Text, s.Const.Text) }
		}
	}
}
