package ship

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	shellquote "github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/ship/wheel"
	"github.com/opcast/opcast/internal/system/safefile"
)

// wheelFlags are the choices of the command line.
type wheelFlags struct {
	shipFlags
	programs []string
	sources  bool
}

const wheelLong = `Build the collection and write its wheels: NAME-backend with the library, a package for each framework, and NAME, whose
extras require the others. They need no compiler where they are installed.

The bytes of the wheels follow from the sources and the compilers, not from the time or the folder.`

func newWheelCmd(a commands) *cobra.Command {
	var flags wheelFlags
	cmd := &cobra.Command{
		Use:   "wheel",
		Short: "Write the wheels with which others install the collection",
		Long:  wheelLong,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.wheel(cmd.Context(), &flags) },
	}
	flags.add(cmd, "folder of the wheels (default: dist in the project)", "list the wheels as JSON")
	cmd.Flags().StringArrayVar(&flags.programs, "script", nil, "put this program into the wheel of NAME, as a command")
	cmd.Flags().BoolVar(&flags.sources, "sdist", false,
		"also write source distributions of the packages, which compile their library when they are imported")
	return cmd
}

// wheel builds and writes the wheels. No other process changes the libraries meanwhile.
func (a commands) wheel(ctx context.Context, flags *wheelFlags) error {
	project, err := a.Load()
	if err != nil {
		return err
	}
	if err := app.KnownDevices(flags.devices, project.Manifest.Devices); err != nil {
		return err
	}
	programs, err := readPrograms(flags.programs)
	if err != nil {
		return err
	}
	o, lock, err := a.ship(ctx, &flags.shipFlags, project.Dir)
	if err != nil {
		return err
	}
	defer lock.Release()
	c, err := a.collect(ctx, lock, o, programs)
	if err != nil {
		return missingLibrary(err, o.Env)
	}
	defer func() { _ = c.root.Close() }() // it was read only
	if flags.sources {
		if c.sources, err = a.sources(ctx, c, flags.python); err != nil {
			return err
		}
	}
	if flags.output == "" {
		flags.output = filepath.Join(a.Dir, "dist")
	}
	return a.writeWheels(c, flags)
}

// shipment is a collection that has been built, and what is made of it.
type shipment struct {
	wheel.Collection
	root    *os.Root
	wheels  []*wheel.Distribution
	sources []wheel.Source
}

// sources makes the source distributions.
func (a commands) sources(ctx context.Context, c *shipment, python string) ([]wheel.Source, error) {
	headers, err := a.headers(ctx, c.Project, python)
	if err != nil {
		return nil, err
	}
	packed, err := build.Packed(c.Project, backend.FS, headers)
	if err != nil {
		return nil, err
	}
	return c.Sources(packed)
}

// collect builds, and makes the distributions. Whoever has no GPU need not load code for GPUs, so the backend has that of the CPU,
// and the library of all devices is a distribution of its own.
func (a commands) collect(ctx context.Context, lock *build.Lock, o build.Options, programs []wheel.File) (c *shipment, err error) {
	project, err := a.Load() // it may have changed while this build waited
	if err != nil {
		return nil, err
	}
	c = &shipment{}
	if c.Collection, c.root, err = packages(project); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = c.root.Close() // what went wrong is known
		}
	}()
	c.Programs = programs
	builds := stages(o, project.Manifest.Devices)
	result, err := a.CompileUnder(ctx, lock, builds[0])
	if err != nil {
		return nil, err
	}
	all, notes, err := c.Distributions()
	if err != nil {
		return nil, err
	}
	c.wheels, notes = all, append(result.Notes, notes...)
	if len(builds) > 1 {
		more, err := a.collectCUDA(ctx, lock, builds[1], c)
		if err != nil {
			return nil, err
		}
		notes = append(notes, more...)
	}
	if unlicensed(c.wheels) {
		notes = append(notes, "the wheels hold no license of yours: the project's folder has no file such as LICENSE")
	}
	slices.Sort(notes)
	return c, a.Notes(slices.Compact(notes))
}

// collectCUDA builds for GPUs, too, where there is a compiler for them, and adds that distribution.
func (a commands) collectCUDA(ctx context.Context, lock *build.Lock, o build.Options, c *shipment) (notes []string, err error) {
	a.announce(ctx, o, &c.Project.Manifest)
	result, err := a.CompileUnder(ctx, lock, o)
	if err != nil {
		return nil, err
	}
	if result.CUDA == "" {
		return result.Notes, nil
	}
	c.wheels, notes, err = c.CUDA(c.wheels, result.CUDA)
	return append(notes, result.Notes...), err
}

// readPrograms reads the files of programs; each gives its command its name.
func readPrograms(paths []string) (programs []wheel.File, err error) {
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, app.ExitError{Code: app.ExitUsage, Err: fmt.Errorf("--script: %w", err)}
		}
		programs = append(programs, wheel.File{Name: filepath.Base(path), Content: content})
	}
	if err := wheel.CheckPrograms(programs); err != nil {
		return nil, app.ExitError{Code: app.ExitUsage, Err: fmt.Errorf("--script: %w", err)}
	}
	return programs, nil
}

// wheelLine is what is told about a wheel or a source distribution.
type wheelLine struct {
	Path   string `json:"path"`
	Size   int    `json:"size"`
	SHA256 string `json:"sha256"`
}

// writeWheels writes the archives and lists them. Wheels of the same versions that lie there go.
func (a commands) writeWheels(c *shipment, flags *wheelFlags) error {
	if err := os.MkdirAll(flags.output, 0o755); err != nil {
		return fmt.Errorf("write wheels: %w", err)
	}
	var lines []wheelLine
	tell := func(name string, content []byte) {
		lines = append(lines, wheelLine{filepath.Join(flags.output, name), len(content), fmt.Sprintf("%x", sha256.Sum256(content))})
	}
	err := safefile.In(flags.output, func(root *os.Root) error {
		for _, d := range c.wheels {
			content, err := d.Archive()
			if err != nil {
				return err
			}
			if err := replaceWheel(root, d, content); err != nil {
				return err
			}
			tell(d.FileName(), content)
		}
		for _, s := range c.sources {
			if _, err := safefile.Write(root, s.Name, s.Content); err != nil {
				return err
			}
			tell(s.Name, s.Content)
		}
		return a.noteStale(root, c.Project.Manifest.Name, lines)
	})
	if err != nil {
		return err
	}
	if flags.json {
		return a.PrintJSON(lines)
	}
	for _, l := range lines {
		if _, err := fmt.Fprintf(a.Stdout, "%s (%d bytes, SHA-256 %s)\n", l.Path, l.Size, l.SHA256); err != nil {
			return err
		}
	}
	return a.sayHowToInstall(&c.Project.Manifest, flags.output)
}

// sayHowToInstall prints the command that takes the wheels from their folder.
func (a commands) sayHowToInstall(m *manifest.Manifest, folder string) error {
	what := m.Name
	if len(m.Adaptors) > 0 {
		what += "[" + strings.Join(m.Adaptors, ",") + "]"
	}
	_, err := fmt.Fprintln(a.Stdout, "try: pip install", shellquote.Join("--find-links", folder, what+"=="+m.Version))
	return err
}

// noteStale tells of archives of the collection that lie there and were not written now: of other versions, or of packages that it
// no longer has. Installers would take them, and so would who uploads the folder. They stay, since they may be releases.
func (a commands) noteStale(root *os.Root, collection string, written []wheelLine) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	var stale []string
	for _, entry := range entries {
		isWritten := func(l wheelLine) bool { return filepath.Base(l.Path) == entry.Name() }
		if wheel.Of(collection, entry.Name()) && !slices.ContainsFunc(written, isWritten) {
			stale = append(stale, "the folder also has "+entry.Name()+", which was not written now: installers may take it, so remove what is obsolete")
		}
	}
	return a.Notes(stale)
}

// replaceWheel writes a wheel, and removes those of the same version that are for other platforms: installers would choose.
func replaceWheel(root *os.Root, d *wheel.Distribution, content []byte) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if name := entry.Name(); d.Replaces(name) && name != d.FileName() {
			if err := safefile.Remove(root, name); err != nil {
				return err
			}
		}
	}
	_, err = safefile.Write(root, d.FileName(), content)
	return err
}
