package elfcheck

import (
	"slices"
	"strings"
)

// Standard is a set of systems, by what all of them have.
type Standard struct {
	// Name is the platform in the names of wheels, without the machine.
	Name string
	// Versions are the versions of symbols, by the word before the underscore. Those of other words belong to libraries that the
	// standard does not speak of.
	Versions map[string]string
	// Libraries are those that every such system has.
	Libraries []string
}

// DefaultStandard is the one that libraries and wheels are made for, and judged by where nobody says another one.
const DefaultStandard = "manylinux_2_28"

// standards follow PEP 600 and auditwheel's lists for x86_64. A version that lacks in the list lacks in the library, too.
var standards = []Standard{{
	Name: DefaultStandard,
	Versions: map[string]string{
		"GLIBC": "2.2.5 2.2.6 2.3 2.3.2 2.3.3 2.3.4 2.4 2.5 2.6 2.7 2.8 2.9 2.10 2.11 2.12 2.13 2.14 2.15 2.16 2.17 2.18 2.22 2.23 " +
			"2.24 2.25 2.26 2.27 2.28",
		"GLIBCXX": "3.4 3.4.1 3.4.2 3.4.3 3.4.4 3.4.5 3.4.6 3.4.7 3.4.8 3.4.9 3.4.10 3.4.11 3.4.12 3.4.13 3.4.14 3.4.15 3.4.16 " +
			"3.4.17 3.4.18 3.4.19 3.4.20 3.4.21 3.4.22 3.4.23 3.4.24",
		"CXXABI":    "1.3 1.3.1 1.3.2 1.3.3 1.3.4 1.3.5 1.3.6 1.3.7 1.3.8 1.3.9 1.3.10 1.3.11 FLOAT128 TM_1",
		"GCC":       "3.0 3.3 3.3.1 3.4 3.4.2 3.4.4 4.0.0 4.2.0 4.3.0 4.7.0 4.8.0 7.0.0",
		"LIBATOMIC": "1.0 1.1 1.2",
		"ZLIB":      "1.2.0 1.2.0.2 1.2.0.8 1.2.2 1.2.2.3 1.2.2.4 1.2.3.3 1.2.3.4 1.2.3.5 1.2.5.1 1.2.5.2 1.2.7.1 1.2.9",
	},
	Libraries: []string{
		"ld-linux-x86-64.so.2", "libanl.so.1", "libatomic.so.1", "libc.so.6", "libdl.so.2", "libexpat.so.1", "libgcc_s.so.1",
		"libgobject-2.0.so.0", "libglib-2.0.so.0", "libGL.so.1", "libgthread-2.0.so.0", "libICE.so.6", "libm.so.6", "libmvec.so.1",
		"libnsl.so.1", "libpthread.so.0", "libresolv.so.2", "librt.so.1", "libSM.so.6", "libstdc++.so.6", "libutil.so.1",
		"libX11.so.6", "libXext.so.6", "libXrender.so.1", "libz.so.1",
	},
}}

// Standards are the names of all standards.
func Standards() (names []string) {
	for _, s := range standards {
		names = append(names, s.Name)
	}
	return names
}

// FindStandard returns the standard of a name, or nil.
func FindStandard(name string) *Standard {
	i := slices.IndexFunc(standards, func(s Standard) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &standards[i]
}

// Has says whether the systems have a version of symbols, such as "GLIBC_2.17". It is content with versions that it does not
// speak of, and with none.
func (s *Standard) Has(version string) bool {
	word, number, _ := strings.Cut(version, "_")
	known, ok := s.Versions[word]
	return !ok || slices.Contains(strings.Fields(known), number)
}
