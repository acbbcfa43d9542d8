package ship

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast"
	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/ship/hub"
	"github.com/opcast/opcast/internal/system/git"
)

const hubLong = `Build the collection and write a kernel of it, which the package kernels of Hugging Face loads: a folder for each variant,
with the library and the packages for the frameworks, and beside them a card and a benchmark.

The bytes follow from the sources and the compilers, not from the time or the folder.`

func newHubCmd(a commands) *cobra.Command {
	var flags shipFlags
	cmd := &cobra.Command{
		Use:   "hub",
		Short: "Write a kernel for the Hugging Face Hub",
		Long:  hubLong,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.hub(cmd.Context(), &flags) },
	}
	flags.add(cmd, "folder of the kernel (default: dist/hub in the project)", "list the variants as JSON")
	return cmd
}

// hub builds and writes the kernel. No other process changes the libraries meanwhile.
func (a commands) hub(ctx context.Context, flags *shipFlags) error {
	project, err := a.Load()
	if err != nil {
		return err
	}
	if err := app.KnownDevices(flags.devices, project.Manifest.Devices); err != nil {
		return err
	}
	if slices.Contains(flags.devices, "rocm") {
		return app.Usage("--device rocm: there is no variant for it yet")
	}
	if _, err := hub.New(project, git.Source{}, "", ""); err != nil { // before anything is built
		return err
	}
	if flags.output == "" {
		flags.output = filepath.Join(a.Dir, "dist", "hub")
	}
	if err := hub.Check(flags.output); err != nil {
		return app.ExitError{Code: app.ExitUsage, Err: fmt.Errorf("--output: %w", err)}
	}
	o, lock, err := a.ship(ctx, flags, project.Dir)
	if err != nil {
		return err
	}
	defer lock.Release()
	kernel, variants, err := a.variants(ctx, lock, o)
	if err != nil {
		return err
	}
	beside, err := kernel.Beside(variants)
	if err != nil {
		return err
	}
	if err := hub.Write(flags.output, variants, beside); err != nil {
		return err
	}
	return a.tellVariants(kernel, variants, flags)
}

// variants builds, and makes the variants. Git is asked behind the builds, which may have brought generated files up to date.
func (a commands) variants(ctx context.Context, lock *build.Lock, o build.Options) (k *hub.Kernel, all []hub.Variant, err error) {
	project, err := a.Load() // it may have changed while this build waited
	if err != nil {
		return nil, nil, err
	}
	builds, err := a.hubBuilds(ctx, lock, o, project)
	if err != nil {
		return nil, nil, err
	}
	k, err = hub.New(project, git.FindSource(ctx, project.Dir, manifest.File), o.Env.Packages["apache-tvm-ffi"], "opcast "+opcast.Version)
	if err != nil {
		return nil, nil, err
	}
	for _, b := range builds {
		found, err := k.Variants(b)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, found...)
	}
	return k, all, nil
}

// hubBuilds builds for the CPU, and once more if there are other devices and a compiler for them.
func (a commands) hubBuilds(ctx context.Context, lock *build.Lock, o build.Options, project *opdef.Project) (all []hub.Build, err error) {
	collection, root, err := packages(project)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was read only
	var notes []string
	for i, stage := range stages(o, project.Manifest.Devices) {
		if i > 0 {
			a.announce(ctx, stage, &project.Manifest)
		}
		result, err := a.CompileUnder(ctx, lock, stage)
		if err != nil {
			return nil, err
		}
		distributions, more, err := collection.Distributions()
		if err != nil {
			return nil, missingLibrary(err, o.Env)
		}
		notes = slices.Concat(notes, result.Notes, more)
		if unlicensed(distributions) {
			notes = append(notes, "the kernel holds no license of yours: the project's folder has no file such as LICENSE")
		}
		if len(all) == 0 || result.CUDA != "" {
			all = append(all, hub.Build{CUDA: result.CUDA, Code: result.DeviceCode, Packages: distributions})
		}
	}
	slices.Sort(notes)
	return all, a.Notes(slices.Compact(notes))
}

// variantLine is what is told about a variant.
type variantLine struct {
	Path    string `json:"path"`
	Variant string `json:"variant"`
	ID      string `json:"id"`
	Files   int    `json:"files"`
	Size    int    `json:"size"`
}

// tellVariants lists what was written, and says how others get it.
func (a commands) tellVariants(k *hub.Kernel, variants []hub.Variant, flags *shipFlags) error {
	var lines []variantLine
	for _, v := range variants {
		l := variantLine{filepath.Join(flags.output, hub.Folder, v.Name), v.Name, v.ID, len(v.Files), 0}
		for _, f := range v.Files {
			l.Size += len(f.Content)
		}
		lines = append(lines, l)
	}
	if flags.json {
		return a.PrintJSON(lines)
	}
	for _, l := range lines {
		if _, err := fmt.Fprintf(a.Stdout, "%s (%s, %d bytes, %s)\n", l.Path, app.Count(l.Files, "file"), l.Size, l.ID); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(a.Stdout, "publish: hf upload OWNER/%s %s . --type kernel --revision v%d\n", k.Name, flags.output, k.Version)
	return err
}
