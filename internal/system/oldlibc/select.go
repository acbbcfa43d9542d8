package oldlibc

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/system/version"
)

// symbol is what a library defines: a function, or an object of a size.
type symbol struct {
	name, version string
	object        bool
	size          uint64
}

// number is the version of the C library in the name of a version of symbols: "2.2.5" of "GLIBC_2.2.5". Names of other kinds have
// none.
func number(symbols string) (text string, ok bool) {
	text, ok = strings.CutPrefix(symbols, "GLIBC_")
	return text, ok && version.Valid(text)
}

// before compares versions of the C library.
func before(a, b string) bool {
	x, _ := number(a)
	y, _ := number(b)
	return version.Older(x, y)
}

// isOld says whether a version existed already.
func isOld(symbols string) bool {
	_, ok := number(symbols)
	return ok && !before("GLIBC_"+Version, symbols)
}

// collection is what the libraries of this machine define: the old symbols by the libraries that had them then, each with the
// newest version of that time, and the names of the others.
type collection struct {
	old   map[string][]symbol
	newer []string
}

// collect adds what a library defines.
func (c *collection) collect(library, path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	if f.Machine != elf.EM_X86_64 || f.Class != elf.ELFCLASS64 {
		return fmt.Errorf("%s is of another machine: %v", path, f.Machine)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	newest, today := map[string]symbol{}, map[string]string{}
	for _, s := range symbols {
		kind := elf.ST_TYPE(s.Info)
		if s.Section == elf.SHN_UNDEF || kind == elf.STT_TLS || kind == elf.STT_SECTION || !s.HasVersion {
			continue
		}
		if !s.VersionIndex.IsHidden() {
			today[s.Name] = s.Version
		}
		if known, ok := newest[s.Name]; isOld(s.Version) && (!ok || before(known.version, s.Version)) {
			newest[s.Name] = symbol{s.Name, s.Version, kind == elf.STT_OBJECT, s.Size}
		}
	}
	for name, s := range newest {
		home := library
		if library == "libc.so.6" && moved(today[name]) && name != "__libc_start_main" {
			home = formerly(name)
		}
		c.old[home] = append(c.old[home], s)
	}
	for name := range today {
		if _, ok := newest[name]; !ok {
			c.newer = append(c.newer, name)
		}
	}
	return nil
}

// moved says whether the version with which libc has a symbol today is one of those in which glibc took the other libraries
// into it, from 2.32 to 2.34. A symbol that libc always had did not change then.
func moved(symbols string) bool {
	_, known := number(symbols)
	return known && !before(symbols, "GLIBC_2.32") && !before("GLIBC_2.34", symbols)
}

// formerly is the library that had a symbol before it came to libc.
func formerly(name string) string {
	for _, home := range []struct {
		library  string
		prefixes []string
	}{
		{"libdl.so.2", []string{"dl"}},
		{"libm.so.6", []string{"__isnanf128"}},
		{"librt.so.1", []string{"aio_", "lio_", "mq_", "__mq_", "shm_", "timer_"}},
		{"libutil.so.1", []string{"forkpty", "openpty", "login", "logout", "logwtmp"}},
		{"libanl.so.1", []string{"gai_", "getaddrinfo_a"}},
		{"libresolv.so.2", []string{"res_", "__res_", "dn_", "__dn_", "ns_", "__ns_", "__p_", "__loc_", "__b64_", "inet_", "hostalias", "__hostalias"}},
	} {
		if slices.ContainsFunc(home.prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			return home.library
		}
	}
	return "libpthread.so.0"
}
