package sass

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// Mix counts the instructions of a piece of code, each once. Bytes are those of one thread, operations those of a warp.
type Mix struct {
	Instructions int `json:"instructions"`
	// Memory counts accesses to global memory by kind and bits: "LDG.128", "STG.16", "LD.32" for a generic one, "LDGSTS.128" for a
	// copy to shared memory, "UBLKCP" for a bulk copy.
	Memory map[string]int `json:"memory,omitempty"`
	// LoadBytes and StoreBytes are moved from and to global memory.
	LoadBytes  int `json:"load_bytes,omitempty"`
	StoreBytes int `json:"store_bytes,omitempty"`
	// Generic are loads and stores whose address may be of any memory, and GenericLoadBytes and GenericStoreBytes what they move.
	Generic           int `json:"generic,omitempty"`
	GenericLoadBytes  int `json:"generic_load_bytes,omitempty"`
	GenericStoreBytes int `json:"generic_store_bytes,omitempty"`
	// Narrow are loads of one or two bytes of global memory.
	Narrow int `json:"narrow,omitempty"`
	// Calls are the subroutines that are called, each with how often; SlowPaths are calls for arguments that the hardware's
	// division or root cannot take, such as denormal numbers.
	Calls     map[string]int `json:"calls,omitempty"`
	SlowPaths int            `json:"slow_paths,omitempty"`
	// FP64 are instructions on doubles, conversions among them. XU are those of the unit for special functions: MUFU, and
	// conversions between integers and floats.
	FP64 int `json:"fp64,omitempty"`
	XU   int `json:"xu,omitempty"`
	// Tensor are matrix instructions, TensorFlops and Flops the operations of these, and of additions and products of floats.
	Tensor      int `json:"tensor,omitempty"`
	TensorFlops int `json:"tensor_flops,omitempty"`
	Flops       int `json:"flops,omitempty"`
	// WGMMA says that matrix instructions are those of a warp group, which reach the rate of the device.
	WGMMA bool `json:"wgmma,omitempty"`
	// LSU is how many cycles of a multiprocessor's load and store unit they take: one for 128 bytes of a warp.
	LSU int `json:"lsu,omitempty"`
	// Shared are loads and stores of shared memory, LDSM among them; Spills those of local memory.
	Shared   int `json:"shared,omitempty"`
	Spills   int `json:"spills,omitempty"`
	Atomics  int `json:"atomics,omitempty"`
	Barriers int `json:"barriers,omitempty"`
	Shuffles int `json:"shuffles,omitempty"`
}

// Add adds what another piece has.
func (m *Mix) Add(o Mix) {
	add := func(to *map[string]int, from map[string]int) {
		if *to == nil && len(from) > 0 {
			*to = map[string]int{}
		}
		for name, n := range from {
			(*to)[name] += n
		}
	}
	memory, calls := maps.Clone(m.Memory), maps.Clone(m.Calls)
	add(&memory, o.Memory)
	add(&calls, o.Calls)
	m.Memory, m.Calls, m.WGMMA = memory, calls, m.WGMMA || o.WGMMA
	mine, others := m.numbers(), o.numbers()
	for i := range mine {
		*mine[i] += *others[i]
	}
}

// numbers are the counts.
func (m *Mix) numbers() []*int {
	return []*int{
		&m.Instructions, &m.LoadBytes, &m.StoreBytes, &m.Generic, &m.GenericLoadBytes, &m.GenericStoreBytes, &m.Narrow, &m.SlowPaths,
		&m.FP64, &m.XU, &m.Tensor, &m.TensorFlops, &m.Flops, &m.LSU, &m.Shared, &m.Spills, &m.Atomics, &m.Barriers, &m.Shuffles,
	}
}

// Moved are the bytes of global memory that one thread reads and writes. Generic accesses are taken for such of shared memory where
// there are others.
func (m *Mix) Moved() (loads, stores int) {
	if m.LoadBytes+m.StoreBytes == 0 {
		return m.GenericLoadBytes, m.GenericStoreBytes
	}
	return m.LoadBytes, m.StoreBytes
}

// Widest is the number of bits of the widest access to global memory.
func (m *Mix) Widest() (most int) {
	for name := range m.Memory {
		_, width, _ := strings.Cut(name, ".")
		n, _ := strconv.Atoi(width) // a bulk copy has none
		most = max(most, n)
	}
	return most
}

// busy says whether it touches global memory or tensor cores.
func (m *Mix) busy() bool { return len(m.Memory) > 0 || m.Tensor > 0 }

func mixOf(code []Instruction) (m Mix) {
	m.Memory, m.Calls = map[string]int{}, map[string]int{}
	for i := range code {
		m.count(&code[i])
	}
	return m
}

func (m *Mix) count(i *Instruction) {
	if i.Base() == "NOP" {
		return
	}
	m.Instructions++
	if isFP64(i) {
		m.FP64++
	}
	switch base := i.Base(); base {
	case "LDG", "LD", "STG", "ST", "LDGSTS", "ATOMG", "ATOM", "RED", "REDG":
		m.access(base, i)
	case "UBLKCP", "UTMALDG", "UTMASTG", "UBLKRED":
		m.Memory[base]++
	case "LDS", "STS", "ATOMS", "LDSM", "STSM":
		m.Shared++
		m.LSU += max(1, bits(i)*32/8/lsuBytes)
	case "LDL", "STL":
		m.Spills++
		m.LSU++
	case "CALL":
		m.call(i)
	case "MUFU", "I2F", "F2I", "F2F", "FRND", "I2FP", "F2FP":
		if base != "I2FP" && base != "F2FP" { // these are done beside other arithmetic
			m.XU++
		}
	case "SHFL", "REDUX":
		m.Shuffles++
		m.LSU++
	default:
		m.compute(i)
	}
}

// lsuBytes are what the load and store unit of a multiprocessor moves in a cycle.
const lsuBytes = 128

// access counts an access to global memory.
func (m *Mix) access(base string, i *Instruction) {
	width := bits(i)
	m.Memory[base+"."+strconv.Itoa(width)]++
	m.LSU += max(1, width*32/8/lsuBytes)
	switch base {
	case "LDG", "LDGSTS":
		m.LoadBytes += width / 8
	case "LD":
		m.GenericLoadBytes += width / 8
	case "ST", "ATOM":
		m.GenericStoreBytes += width / 8
	default:
		m.StoreBytes += width / 8
	}
	if strings.HasPrefix(base, "ATOM") || strings.HasPrefix(base, "RED") {
		m.Atomics++
	}
	if base == "LD" || base == "ST" || base == "ATOM" {
		m.Generic++
	}
	if (base == "LDG" || base == "LD") && width < 32 {
		m.Narrow++
	}
}

// subroutine is the name of a function of CUDA's own in the names that nvdisasm prints.
var subroutine = regexp.MustCompile(`\$__cuda_sm\d+_(\w+)$`)

// call counts the call of a subroutine by its name: "div_s64".
func (m *Mix) call(i *Instruction) {
	name := "a function"
	for _, t := range i.Targets {
		if found := subroutine.FindStringSubmatch(t); found != nil {
			name = found[1]
		}
	}
	if strings.HasSuffix(name, "slowpath") {
		m.SlowPaths++
		return
	}
	m.Calls[name]++
}

// bits is the width of an access.
func bits(i *Instruction) int {
	for _, word := range strings.Split(i.Op, ".")[1:] {
		switch word {
		case "U8", "S8":
			return 8
		case "U16", "S16", "F16", "BF16":
			return 16
		case "64", "128", "256":
			n, _ := strconv.Atoi(word) // one of these
			return n
		case "F16x2", "BF16x2", "BF16_V2":
			return 32
		}
	}
	if strings.HasPrefix(i.Op, "LDSM") || strings.HasPrefix(i.Op, "STSM") { // matrices of 8 by 8: a word of each thread
		if n := i.Op[len(i.Op)-1]; n == '2' || n == '4' {
			return 32 * int(n-'0')
		}
	}
	return 32
}

func isFP64(i *Instruction) bool {
	switch i.Base() {
	case "DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "DSET", "DMMA":
		return true
	}
	return strings.Contains(i.Op, "F64") || strings.Contains(i.Op, "64H")
}

// meets says whether threads wait for each other at an instruction.
func meets(i *Instruction) bool {
	switch i.Base() {
	case "BAR", "SHFL", "REDUX", "UCGABAR_WAIT", "SYNCS":
		return true
	}
	return false
}
