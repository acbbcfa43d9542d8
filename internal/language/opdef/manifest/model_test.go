package manifest

import "testing"

// Two versions of a collection, and a collection that is called like opcast's own namespace, have namespaces of their own.
func TestCPPNamespace(t *testing.T) {
	for _, tt := range []struct{ name, namespace, want string }{
		{"demo", "", "demo_ops"}, {"demo", "demo_2", "demo_2_ops"}, {"opcast", "", "opcast_ops"},
	} {
		m := Manifest{Name: tt.name, Namespace: tt.namespace}
		if got := m.CPPNamespace(); got != tt.want {
			t.Errorf("%+v: got %s", tt, got)
		}
	}
}
