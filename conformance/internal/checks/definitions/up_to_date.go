package definitions

import "github.com/opcast/opcast/conformance/internal/check"

var upToDateCheck = about("up-to-date", check.GroupAcross, check.ComparedWithBackend, nil,
	"generated files are what the definitions give", checkUpToDate)

// checkUpToDate reports generated files that differ from what the definition gives today.
func checkUpToDate(t *check.T) error {
	if t.Env.StaleFiles == nil {
		return check.Skip("the generator is not at hand")
	}
	files, err := t.Env.StaleFiles(t.Ctx)
	if err != nil {
		return err
	}
	t.CurrentRow().Checked++
	for _, file := range files {
		t.Fail(nil, file, "is not what the definitions give: run `opcast gen`")
	}
	return nil
}
