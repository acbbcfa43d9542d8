package sass

import (
	"regexp"
	"strconv"
	"strings"
)

// warp is how many threads run one instruction.
const warp = 32

// compute counts arithmetic, barriers and matrix products.
func (m *Mix) compute(i *Instruction) {
	if flops, isTensor := tensorFlops(i); isTensor {
		m.Tensor++
		m.TensorFlops += flops
		m.WGMMA = m.WGMMA || strings.Contains(i.Base(), "GMMA") || strings.HasPrefix(i.Base(), "UTC")
		return
	}
	if meets(i) {
		m.Barriers++
		return
	}
	if strings.Contains(i.Args, "-RZ, RZ") { // a number is put into a register
		return
	}
	m.Flops += warp * map[string]int{
		"FADD": 1, "FMUL": 1, "FFMA": 2, "FFMA32I": 2, "FADD2": 2, "FMUL2": 2, "FFMA2": 4,
		"HADD2": 2, "HMUL2": 2, "HFMA2": 4, "DADD": 1, "DMUL": 1, "DFMA": 2, "IDP": 8,
	}[i.Base()]
}

var (
	groupShape = regexp.MustCompile(`\.(\d+)x(\d+)x(\d+)`)
	warpShape  = regexp.MustCompile(`\.(\d{3,6})\b`)
)

// The shapes of the matrix instructions of a warp, M by N by K.
var warpShapes = map[string]int{
	"884": 8 * 8 * 4, "8816": 8 * 8 * 16, "8832": 8 * 8 * 32, "1684": 16 * 8 * 4, "1688": 16 * 8 * 8, "16816": 16 * 8 * 16,
	"16832": 16 * 8 * 32, "16864": 16 * 8 * 64, "168128": 16 * 8 * 128,
}

// tensorFlops are the operations of a matrix instruction for one warp. Those of a group are issued by its four warps.
func tensorFlops(i *Instruction) (flops int, isTensor bool) {
	base := i.Base()
	if !strings.HasSuffix(base, "MMA") || base == "HFMA2" {
		return 0, false
	}
	if shape := groupShape.FindStringSubmatch(i.Op); shape != nil {
		flops = 2
		for _, word := range shape[1:] {
			n, _ := strconv.Atoi(word) // digits
			flops *= n
		}
		return flops / 4, true
	}
	for _, shape := range warpShape.FindAllStringSubmatch(i.Op, -1) {
		if n := warpShapes[shape[1]]; n > 0 {
			return 2 * n, true
		}
	}
	return 0, true
}
