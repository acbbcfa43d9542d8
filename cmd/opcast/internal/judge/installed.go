package judge

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/opdef"
)

const wheelRemedy = "opcast wheel, and install the wheels that it writes"

// whereInstalled tells from where Python imports the backend of a collection, and which library that loads: one with code for
// GPUs lies in a package of its own.
const whereInstalled = `
import importlib, json, os, sys
module = importlib.import_module(sys.argv[2])
site = os.path.dirname(os.path.dirname(os.path.abspath(module.__file__)))
print(json.dumps({"Site": site, "Library": str(module.library_path())}))
`

// installedPackages finds the packages of a project that are installed in an environment.
func installedPackages(ctx context.Context, p *opdef.Project, env *pyenv.Env) (*opdef.Installed, error) {
	backend := p.Manifest.Name + "_backend"
	if distribution := strings.ReplaceAll(backend, "_", "-"); len(env.Lacking(distribution)) > 0 {
		return nil, app.ExitError{Code: app.ExitMachine, Err: fmt.Errorf("%s lacks %s\n  run: %s", env.Python, distribution, wheelRemedy)}
	}
	out, err := env.Run(ctx, whereInstalled, backend)
	if err != nil {
		return nil, app.ExitError{Code: app.ExitMachine, Err: fmt.Errorf("look for the installed %s: %w", backend, err)}
	}
	var found opdef.Installed
	if err := json.Unmarshal(out, &found); err != nil {
		return nil, fmt.Errorf("read where %s is installed: %w", backend, err)
	}
	return &found, nil
}
