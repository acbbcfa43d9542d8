package sharding

import "github.com/opcast/opcast/conformance/internal/check"

var sharding2dCheck = onDevices("sharding-2d", "sharding",
	"what sharding says also holds on a mesh of 2 × 4 devices", checkMesh)

// checkMesh divides two dims at once, or one along the second axis of the mesh.
func checkMesh(t *check.T) error {
	d, err := t.FirstDTypes()
	if err != nil {
		return err
	}
	dims := dividable(t.Op)
	if len(dims) == 0 {
		return check.Skip("no dim can be divided")
	}
	axes := map[string]string{dims[0]: "j"}
	if len(dims) > 1 {
		axes[dims[1]] = "i"
	}
	for _, explicit := range []bool{false, true} {
		s, err := newSharding(t, d, axes, []int64{2, 4}, nil, true)
		if err != nil {
			return err
		}
		if err := check.Proceed(checkShardedProgram(t, s, explicit)); err != nil {
			return err
		}
	}
	return nil
}
