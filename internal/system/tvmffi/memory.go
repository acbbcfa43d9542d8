package tvmffi

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Memory is what C and C++ hold in this process, in bytes; that of Go is left out, and so is code.
type Memory struct {
	// Live is what malloc has given out and not got back.
	Live int64 `json:"live"`
	// Resident is anonymous memory outside of Go's heap that is there physically: what malloc holds, stacks, and what was
	// mapped. What is free is given back first.
	Resident int64 `json:"resident"`
}

// mallinfo is the C struct that mallinfo2 returns, in its order, and mallinfo before glibc 2.33, with numbers modulo 4 GiB.
type mallinfo[T uintptr | uint32] struct {
	_, _, _, _  T // arena, ordblks, smblks, hblks
	mappedBytes T // hblkhd
	_, _        T // usmblks, fsmblks
	used        T // uordblks
	_, _        T // fordblks, keepcost
}

// live is what malloc has given out, by the function of the C library that says so.
func live[T uintptr | uint32](function string) (int64, error) {
	var info func() mallinfo[T]
	if err := register(&info, function); err != nil {
		return 0, err
	}
	got := info()
	return int64(got.used) + int64(got.mappedBytes), nil
}

// register makes a Go function of one of the C library.
func register(function any, name string) error {
	address, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
	if err != nil {
		return fmt.Errorf("measure memory: the C library lacks %s: %w", name, err)
	}
	purego.RegisterFunc(function, address)
	return nil
}

// Usage measures the memory of this process.
func Usage() (Memory, error) {
	var (
		m    Memory
		trim func(pad uintptr) int32
	)
	err := register(&trim, "malloc_trim")
	if err != nil {
		return m, err
	}
	trim(0)
	if m.Live, err = live[uintptr]("mallinfo2"); err != nil {
		if m.Live, err = live[uint32]("mallinfo"); err != nil {
			return m, err
		}
	}
	here := new(byte)
	m.Resident, err = resident("/proc/self/smaps", uint64(uintptr(unsafe.Pointer(here))))
	return m, err
}

// resident sums the anonymous memory of the mappings that are not Go's.
func resident(path string, heap uint64) (total int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("measure memory: %w", err)
	}
	defer f.Close()
	lines, ours := bufio.NewScanner(f), false
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 5 && strings.Contains(fields[0], "-"):
			ours = isGo(fields[0], strings.Join(fields[5:], " "), heap)
		case len(fields) == 3 && fields[0] == "Anonymous:" && !ours:
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("measure memory: %w", err)
			}
			total += n << 10
		}
	}
	if err := lines.Err(); err != nil {
		return 0, fmt.Errorf("measure memory: %w", err)
	}
	return total, nil
}

// goReach is how far Go's heap reaches: it grows upwards from a place that is chosen at random, far from all else.
const goReach = 1 << 36

// isGo says whether a mapping belongs to Go's runtime, which names its mappings where the kernel can. heap is the address of
// anything in Go's heap, where the stacks of goroutines lie, too.
func isGo(place, name string, heap uint64) bool {
	first, _, _ := strings.Cut(place, "-")
	start, err := strconv.ParseUint(first, 16, 64)
	return strings.HasPrefix(name, "[anon: Go:") || err == nil && start+goReach > heap && start < heap+goReach
}
