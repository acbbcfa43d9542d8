package build

import (
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/system/elfcheck"
	"github.com/opcast/opcast/internal/system/oldlibc"
	"github.com/opcast/opcast/internal/system/safefile"
)

// stubFolder holds the stubs of the old C library that a portable build links with.
const stubFolder = "build/oldlibc"

// standard is what a portable library runs on.
const standard = elfcheck.DefaultStandard

// portableWords link a library that runs on older systems: with the stubs, and with the C++ library inside, since the one of an
// older system lacks functions that headers of today call. What nobody calls is left out again. The folder comes before those of
// other options.
var portableWords = []string{"-L" + stubFolder, "-Wl,-rpath-link," + stubFolder, "-static-libstdc++", "-Wl,--gc-sections"}

// formerLibraries are parts of the C library that have come to libc itself since. Sources that were written for a new system do
// not ask for them.
var formerLibraries = []string{"-Wl,--push-state,--as-needed", "-lpthread", "-ldl", "-lrt", "-lutil", "-lanl", "-lresolv", "-Wl,--pop-state"}

// takeOldLibc puts the stubs of a portable build into the project's folder and makes the plan link with them.
func (in *inputs) takeOldLibc(ctx context.Context, root *os.Root, portable bool) error {
	if !portable {
		return nil
	}
	find := func(name string) (string, error) { return in.compiler.Find(ctx, name) }
	made, err := oldlibc.Make(find)
	if errors.Is(err, oldlibc.ErrCannot) {
		return &pyenv.MissingError{Text: "--portable: " + err.Error()}
	}
	if err != nil {
		return err
	}
	archive, err := find("libstdc++.a")
	if err != nil {
		return err
	}
	if archive == "" {
		return &pyenv.MissingError{
			Text:    "--portable: " + in.compiler.Words[0] + " finds no libstdc++.a, the C++ library that is linked into a portable library",
			Command: "apt-get install g++, dnf install libstdc++-static   (or your system's equivalent)",
		}
	}
	in.outside = append(in.outside, archive)
	for _, name := range slices.Sorted(maps.Keys(made.Files)) {
		file := path.Join(stubFolder, name)
		if _, err := safefile.Write(root, file, made.Files[name]); err != nil {
			return err
		}
		in.stubs = append(in.stubs, file)
	}
	in.newer = made.Newer
	in.shim = []string{path.Join(stubFolder, oldlibc.ShimName)}
	return nil
}

// isShim says whether a source is the one that comes with the stubs.
func (in inputs) isShim(source string) bool { return slices.Contains(in.shim, source) }

// portability says what of this tool is in a portable library.
func (in inputs) portability() string {
	if len(in.shim) == 0 {
		return ""
	}
	return "portable " + strings.Join(slices.Concat(portableWords, formerLibraries), " ") + " " + tree.ContentDigest(oldlibc.Shim) + "\n"
}
