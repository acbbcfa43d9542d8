package author

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	shellquote "github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/system/safefile"
)

var (
	//go:embed templates/manifest.toml.tmpl
	manifestTemplate string
	//go:embed templates/gitignore.tmpl
	gitignoreTemplate string
	//go:embed templates/README.md.tmpl
	readmeTemplate string
	//go:embed templates/taplo.toml.tmpl
	taploTemplate string
	//go:embed templates/extensions.json.tmpl
	extensionsTemplate string
	//go:embed templates/clangd.tmpl
	clangdTemplate string
	//go:embed templates/example.toml.tmpl
	exampleTemplate string
	//go:embed templates/example.cc.tmpl
	exampleKernelTemplate string
	//go:embed templates/example.cu.tmpl
	exampleCUDATemplate string
)

// exampleOp is the op that a new collection has, unless it begins empty.
const exampleOp = "example_relu"

// kernelFolders are where kernels for a device are written, and how their files end.
var kernelFolders = map[string]struct{ folder, ending string }{
	"cpu": {"csrc/cpu", ".cc"}, "cuda": {"csrc/cuda", ".cu"}, "rocm": {"csrc/rocm", ".hip"},
}

// initFlags are the choices of the command line.
type initFlags struct {
	name          string
	devices, from []string
	// chosen are the devices if somebody named them.
	chosen []string
	empty  bool
	// only are the ops to draft; tensors and aliases say what types are.
	only, tensors []string
	aliases       map[string]string
	// shaping is a flag that somebody gave and that means nothing for a project that exists; "" if there is none.
	shaping string
}

const initLong = `Begin a collection of ops: a manifest, an example op with its kernels, README.md, .gitignore, a workflow for GitHub, and settings
with which editors complete and check definitions. Files that exist are left alone; a folder is refused that has some where generated
ones would lie.

With --from, the ops are drafts of what files of the project declare, of an extension that you have: bindings (TORCH_LIBRARY,
PYBIND11_MODULE, TVM_FFI_DLL_EXPORT_TYPED_FUNC), or functions on raw pointers. Nothing of the files is run. What could not be read,
and what you have to decide, is told with its line. In a project that exists, ops are added.`

func newInitCmd(a commands) *cobra.Command {
	var flags initFlags
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Begin a collection of ops",
		Long:  initLong,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("device") {
				flags.chosen = flags.devices
			}
			for _, flag := range []string{"only", "tensor-type", "alias"} {
				if cmd.Flags().Changed(flag) && len(flags.from) == 0 {
					return app.Usage("--%s: it says what to do with the files of --from, and there is none", flag)
				}
			}
			for _, flag := range []string{"name", "device", "empty"} {
				if cmd.Flags().Changed(flag) {
					flags.shaping = flag
				}
			}
			dir := a.Dir
			if len(args) == 1 && filepath.IsAbs(args[0]) {
				dir = args[0]
			} else if len(args) == 1 {
				dir = filepath.Join(dir, args[0])
			}
			return a.initProject(dir, &flags)
		},
	}
	cmd.Flags().StringVar(&flags.name, "name", "", "name of the collection and its packages (default: follows from the folder's name)")
	cmd.Flags().StringSliceVar(&flags.devices, "device", []string{"cpu", "cuda"}, "what the kernels run on")
	cmd.Flags().BoolVar(&flags.empty, "empty", false, "begin without the example op")
	cmd.Flags().StringArrayVar(&flags.from, "from", nil, "draft ops from this file of an extension: bindings, or functions on raw pointers; once for each file")
	cmd.Flags().StringSliceVar(&flags.only, "only", nil, "with --from, draft these ops alone")
	cmd.Flags().StringSliceVar(&flags.tensors, "tensor-type", nil, "with --from, a type that is an array, as torch::Tensor is")
	cmd.Flags().StringToStringVar(&flags.aliases, "alias", nil, "with --from, the dtype of a type behind pointers: --alias bf16_t=bf16")
	return cmd
}

func (a commands) initProject(dir string, flags *initFlags) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("find folder: %w", err)
	}
	if err := initDevices(flags.devices); err != nil {
		return err
	}
	name := cmp.Or(flags.name, collectionName(filepath.Base(abs)))
	if err := names.CheckCollection(name); err != nil {
		return app.ExitError{Code: app.ExitUsage, Err: fmt.Errorf("%w; choose one with --name", err)}
	}
	if err := unclaimed(abs); err != nil {
		return err
	}
	next := []string{"opcast build", "opcast test"}
	c := newCollection{Name: name, Namespace: name + "_ops", Devices: flags.devices}
	switch {
	case len(flags.from) > 0:
		next, err = []string{"opcast build"}, a.initFrom(abs, name, flags)
	case flags.empty:
		next, err = []string{"opcast new OP"}, a.layProject(abs, c, nil)
	default:
		err = a.layExample(abs, c)
	}
	if err != nil {
		return err
	}
	if dir != "." {
		next = append([]string{"cd " + shellquote.Join(dir)}, next...)
	}
	_, err = fmt.Fprintln(a.Stdout, "next:", strings.Join(next, " && "))
	return err
}

// unclaimed refuses a folder that is no project and has files where generated ones would lie: gen replaces what is there.
func unclaimed(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, manifest.File)); err == nil {
		return nil
	}
	for _, folder := range gen.GeneratedDirs {
		entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(folder)))
		if err == nil && len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return app.Usage("nothing written: %s exists already, and opcast generates what lies there: begin in another folder, or move it", folder)
		}
	}
	return nil
}

func initDevices(devices []string) error {
	for i, device := range devices {
		if _, known := kernelFolders[device]; !known {
			return app.Usage("unknown device %q: devices are %s", device, strings.Join(manifest.Devices, ", "))
		}
		if slices.Contains(devices[:i], device) {
			return app.Usage("--device: %s is named twice", device)
		}
	}
	if len(devices) == 0 {
		return app.Usage("--device: name some of %s", strings.Join(manifest.Devices, ", "))
	}
	return nil
}

// layExample lays a collection with the example op.
func (a commands) layExample(dir string, c newCollection) error {
	c.Example = exampleOp
	files := kernelFiles(exampleOp, c.Devices, exampleKernelTemplate, exampleCUDATemplate)
	files["opdefs/"+exampleOp+".toml"] = exampleTemplate
	for name, text := range files {
		rendered, err := render(name, text, c)
		if err != nil {
			return err
		}
		files[name] = rendered
	}
	return a.layProject(dir, c, files)
}

// layProject writes the files of a collection that the folder does not have yet, and those of its ops, and generates.
func (a commands) layProject(dir string, c newCollection, ops map[string]string) error {
	files := map[string]string{}
	for name, text := range map[string]string{
		manifest.File:             manifestTemplate,
		".gitignore":              gitignoreTemplate,
		"README.md":               readmeTemplate,
		".taplo.toml":             taploTemplate,
		".clangd":                 clangdTemplate,
		".vscode/extensions.json": extensionsTemplate,
		workflowFile:              workflowTemplate,
	} {
		rendered, err := render(name, text, c)
		if err != nil {
			return err
		}
		files[name] = rendered
	}
	for name := range schemas {
		text, err := schemaText(name)
		if err != nil {
			return err
		}
		files[".taplo/"+name+".schema.json"] = text
	}
	maps.Copy(files, ops)
	if err := a.keepOthers(dir, files); err != nil {
		return err
	}
	if err := a.place(dir, files); err != nil {
		return err
	}
	if err := layFolders(dir, withKernels(c.Devices)); err != nil {
		return err
	}
	return a.generateIn(dir)
}

// generateIn generates in a folder that may be another than that of the command line.
func (a commands) generateIn(dir string) error {
	p, err := (&app.App{Dir: dir, Stderr: a.Stderr}).Load()
	if err != nil {
		return err
	}
	_, err = a.Generate(p)
	return err
}

// layFolders makes the folders of definitions and kernels.
func layFolders(dir string, devices []string) error {
	return safefile.In(dir, func(root *os.Root) error {
		err := safefile.MkdirAll(root, "opdefs")
		for _, device := range devices {
			err = errors.Join(err, safefile.MkdirAll(root, kernelFolders[device].folder))
		}
		return err
	})
}

// keepOthers takes from the files those that exist, and says so. A folder that is a project is refused.
func (a commands) keepOthers(dir string, files map[string]string) error {
	var kept []string
	for name := range files {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return fmt.Errorf("look for file: %w", err)
		}
		kept = append(kept, name)
	}
	if slices.Contains(kept, manifest.File) {
		return app.ExitError{Code: app.ExitUsage, Err: fmt.Errorf("nothing written: %s exists already", manifest.File)}
	}
	slices.Sort(kept)
	for _, name := range kept {
		delete(files, name)
		if _, err := fmt.Fprintln(a.Stderr, "kept", name); err != nil {
			return err
		}
	}
	return nil
}

var notName = regexp.MustCompile(`[^a-z0-9]+`)

// collectionName turns a folder's name into one that a collection can have.
func collectionName(folder string) string {
	name := strings.Trim(notName.ReplaceAllString(strings.ToLower(folder), "_"), "_")
	for _, candidate := range []string{name, "ops_" + name, name + "_ops"} {
		if names.CheckCollection(candidate) == nil {
			return candidate
		}
	}
	return "ops"
}
