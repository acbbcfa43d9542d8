package definitions

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/system/elfcheck"
)

var abiCheck = about("abi", check.GroupAcross, check.ComparedWithBackend, nil,
	"the built libraries export their entry points only, carry their names, and need what every system has", checkABI)

// exportPrefix begins every name that a library of kernels exports.
const exportPrefix = "__tvm_ffi_"

// checkABI reads the libraries that the collection ships: they export what they should and nothing else, are called what
// their files are called, and need nothing that a user may lack.
func checkABI(t *check.T) error {
	backend, ok := t.Env.Caller(calls.BackendName).(calls.Informed)
	if !ok || backend.Info().TVM == "" {
		return check.Skip("the bare backend does not tell where tvm-ffi is")
	}
	host, err := elfcheck.Read(backend.Info().TVM)
	if err != nil {
		return err
	}
	p := t.Env.Project
	policy := elfcheck.Policy{ExportPrefixes: []string{exportPrefix}, Provided: host.Exports, Linked: elfcheck.Linked(p.Manifest.Link)}
	lib, err := checkLibrary(t, p.LibraryPath(), policy)
	if err != nil {
		return err
	}
	if !slices.Contains(lib.Exports, exportPrefix+t.Op.Name) {
		t.Fail(nil, lib.Name, "does not export %s%s", exportPrefix, t.Op.Name)
	}
	for _, name := range p.Manifest.Adaptors {
		// Few adaptors have one; the pattern is right, so Glob has no error.
		files, _ := filepath.Glob(filepath.Join(p.HandlerFolder(name), "*.so"))
		for _, file := range files {
			policy := policy
			policy.ExportPrefixes = []string{"opcast_" + name + "_"}
			if fw, ok := framework.ByName(name); ok {
				policy.Linked, policy.Families = append(policy.Linked, fw.Handlers.Beside()...), fw.Handlers.Symbols
			}
			if _, err := checkLibrary(t, file, policy); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkLibrary holds one file against the policy.
func checkLibrary(t *check.T, file string, policy elfcheck.Policy) (*elfcheck.Library, error) {
	lib, err := elfcheck.Read(file)
	if err != nil {
		return nil, err
	}
	t.CurrentRow().Checked++
	name := filepath.Base(file)
	violations := lib.Check(policy)
	for what, list := range map[string][]string{
		"exports beside " + strings.Join(policy.ExportPrefixes, ", ") + "*: ": violations.Exports,
		"needs, though no system has it: ":                                    violations.Needed,
		"uses, though nobody defines it: ":                                    violations.Undefined,
	} {
		if len(list) > 0 {
			t.Fail(nil, name, "%s%s", what, strings.Join(list, ", "))
		}
	}
	if lib.Name != name {
		t.Fail(nil, name, "calls itself %q (SONAME)", lib.Name)
	}
	return lib, nil
}
