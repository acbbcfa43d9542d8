// Package oldlibc makes a linker believe that the C library of this machine is an old one.
//
// A library that is linked on a new system needs a new C library, even where it calls nothing new: the linker writes down the
// newest version of each function. Beside that, some functions have moved from libpthread and others into libc since. This
// package writes stub libraries, which have the names and versions that the old C library had and no code. What is linked
// with them runs with the old C library and with all that came after it.
//
// The stubs are made from this machine's own C library, which has kept all the old versions.
package oldlibc

import (
	_ "embed" // for the shim
	"errors"
	"fmt"
	"runtime"
	"slices"
)

// Version is that of the C library which the stubs stand for: the one of manylinux_2_28.
const Version = "2.28"

// ErrCannot says that there are no stubs for this machine.
var ErrCannot = errors.New("cannot link against the C library " + Version)

// Shim is C++ source with hidden definitions of what headers and static libraries of newer systems call, and the old C
// library lacks.
//
//go:embed shim.cc.txt
var Shim []byte

// ShimName is the name of the file that Shim is to be compiled from.
const ShimName = "shim.cc"

// library is a part of the C library: its name for the loader, its name for the linker (-lm) and what a linker that looks for
// that reads.
type library struct{ file, short, script string }

var libraries = []library{
	{"libc.so.6", "c", "GROUP ( libc.so.6 libc_nonshared.a AS_NEEDED ( ld-linux-x86-64.so.2 ) )"},
	{"libm.so.6", "m", "GROUP ( libm.so.6 AS_NEEDED ( libmvec.so.1 ) )"},
	{"libmvec.so.1", "mvec", "INPUT ( libmvec.so.1 )"},
	{"libpthread.so.0", "pthread", "INPUT ( libpthread.so.0 )"},
	{"libdl.so.2", "dl", "INPUT ( libdl.so.2 )"},
	{"librt.so.1", "rt", "INPUT ( librt.so.1 )"},
	{"libutil.so.1", "util", "INPUT ( libutil.so.1 )"},
	{"libresolv.so.2", "resolv", "INPUT ( libresolv.so.2 )"},
	{"libanl.so.1", "anl", "INPUT ( libanl.so.1 )"},
	{"ld-linux-x86-64.so.2", "", ""},
}

// Stubs are the old C library as linkers see it.
type Stubs struct {
	// Files are those of a folder that is to be searched before those of the system (-L), by their names.
	Files map[string][]byte
	// Newer are the functions and objects, sorted, that only this machine's C library has.
	Newer []string
}

// Make makes the stubs of this machine. The function finds one of its libraries by the name; it returns an empty path where there
// is none.
func Make(find func(name string) (string, error)) (*Stubs, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return nil, fmt.Errorf("%w: that is known for x86_64 Linux only, and this is %s %s", ErrCannot, runtime.GOARCH, runtime.GOOS)
	}
	found := collection{old: map[string][]symbol{}}
	for _, l := range libraries {
		path, err := find(l.file)
		if err != nil {
			return nil, err
		}
		if path == "" && l.short == "c" {
			return nil, fmt.Errorf("%w: the compiler finds no %s, so the C library of this machine is not glibc", ErrCannot, l.file)
		}
		if path == "" {
			continue
		}
		if err := found.collect(l.file, path); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCannot, err)
		}
	}
	stubs := &Stubs{map[string][]byte{ShimName: Shim}, found.newer}
	for _, l := range libraries {
		stubs.Files[l.file] = stub(l.file, found.old[l.file])
		if l.script != "" {
			stubs.Files["lib"+l.short+".so"] = []byte("/* " + l.file + " of glibc " + Version + " */\n" + l.script + "\n")
		}
	}
	slices.Sort(stubs.Newer)
	return stubs, nil
}
