package predict

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/opcast/opcast/internal/build/sass"
)

// Recorder is a collection on a device on which nothing runs.
type Recorder struct {
	// Library is the collection, Driver the folder with what stands for CUDA's driver.
	Library, Driver string
	// folder holds the files of a call; chip says what the device is.
	folder string
	chip   *Chip
}

// Parts are what a recorder is made of.
type Parts struct {
	// Source holds the recorder's files in its folder "recorder".
	Source fs.FS
	// Objects are those of the collection, Compiler the words of the C++ compiler's command, Link options as a shell reads them.
	Objects, Compiler []string
	Link              string
	// Stderr gets what the compiler prints.
	Stderr io.Writer
}

// NewRecorder links a collection with the recorder, in a folder.
func NewRecorder(ctx context.Context, dir string, p Parts, chip *Chip) (*Recorder, error) {
	source, driver := filepath.Join(dir, "source"), filepath.Join(dir, "driver")
	err := errors.Join(os.RemoveAll(source), os.MkdirAll(driver, 0o777))
	if err == nil {
		err = os.CopyFS(source, p.Source)
	}
	list := filepath.Join(dir, "objects.rsp")
	if err == nil {
		err = os.WriteFile(list, []byte(strings.Join(quoted(p.Objects), "\n")+"\n"), 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("lay the recorder out: %w", err)
	}
	r := &Recorder{Library: filepath.Join(dir, "collection.so"), Driver: driver, folder: dir, chip: chip}
	flags := "-std=c++17 -O1 -fPIC -shared -fvisibility=hidden "
	for _, command := range []string{
		flags + "-o driver/libcuda.so.1 source/recorder/driver.cc",
		flags + "-Wl,-Bsymbolic -o collection.so source/recorder/runtime.cc @objects.rsp " + p.Link,
	} {
		cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `"$@" ` + command, "sh"}, p.Compiler...)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, p.Stderr, p.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("link the recorder: %w", err)
		}
	}
	return r, nil
}

// quoted writes file names as compilers read them from a file.
func quoted(names []string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
	}
	return list
}

// Know tells the recorder the parameters of kernels.
func (r *Recorder) Know(cubins []sass.Cubin) error {
	var text strings.Builder
	seen := map[string]bool{}
	for _, c := range cubins {
		for _, k := range c.Kernels {
			if seen[k.Name] { // a template in a header, of which the linker keeps one
				continue
			}
			seen[k.Name] = true
			fmt.Fprintln(&text, k.Name, strings.Trim(fmt.Sprint(k.Parameters), "[]"))
		}
	}
	if err := os.WriteFile(r.file("kernels.txt"), []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("write the kernels: %w", err)
	}
	return nil
}

// Environ are the variables of the process that makes a call, in which libraries are looked for in other folders, too.
func (r *Recorder) Environ(libraries string) []string {
	path := r.Driver
	if libraries != "" {
		path += ":" + libraries
	}
	return []string{
		"LD_LIBRARY_PATH=" + path, "OPCAST_RECORD=" + r.file("record.txt"), "OPCAST_RECORD_KERNELS=" + r.file("kernels.txt"),
		fmt.Sprintf("OPCAST_RECORD_DEVICE=%d %d %d", r.chip.Arch, r.chip.SMs, r.chip.Shared),
	}
}

// Begin forgets the call before, Launches reads what the last one has launched.
func (r *Recorder) Begin() error {
	if err := os.Remove(r.file("record.txt")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the record: %w", err)
	}
	return nil
}

// Launches are those since Begin.
func (r *Recorder) Launches() ([]Launch, error) {
	text, err := os.ReadFile(r.file("record.txt"))
	if err != nil {
		return nil, fmt.Errorf("read the record: %w", err)
	}
	return ReadRecord(string(text))
}

func (r *Recorder) file(name string) string { return filepath.Join(r.folder, name) }
