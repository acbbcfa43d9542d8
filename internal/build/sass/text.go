package sass

import (
	"regexp"
	"strconv"
	"strings"
)

// Instruction is one line of nvdisasm.
type Instruction struct {
	Address int
	// Guard is the predicate under which it runs, as "@!P0"; empty if it always runs.
	Guard string
	// Op is the mnemonic with its modifiers, as "LDG.E.128"; Args is what follows.
	Op, Args string
	// Targets are the labels that it names.
	Targets []string
}

// Base is the mnemonic without modifiers.
func (i *Instruction) Base() string {
	base, _, _ := strings.Cut(i.Op, ".")
	return base
}

// Has says whether the mnemonic has a modifier.
func (i *Instruction) Has(modifier string) bool {
	return strings.Contains(i.Op+".", "."+modifier+".")
}

// listing is the code of a function, and where its labels stand: the index of the instruction behind each.
type listing struct {
	name   string
	code   []Instruction
	labels map[string]int
}

var (
	sectionLine     = regexp.MustCompile(`^\.text\.(\S+):$`)
	labelLine       = regexp.MustCompile(`^(\S+):$`)
	instructionLine = regexp.MustCompile(`^\s*/\*([0-9a-f]+)\*/\s+(?:(@!?U?P\w+)\s+)?([A-Z]\S*)\s*(.*?)\s*;`)
	targetWord      = regexp.MustCompile("`\\(([^)]+)\\)|(\\.L_x_\\d+)")
)

// parse reads what nvdisasm -c prints.
func parse(text string) (list []*listing) {
	var now *listing
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			now = &listing{name: m[1], labels: map[string]int{}}
			list = append(list, now)
			continue
		}
		if now == nil {
			continue
		}
		if m := labelLine.FindStringSubmatch(line); m != nil {
			now.labels[m[1]] = len(now.code)
			continue
		}
		if m := instructionLine.FindStringSubmatch(line); m != nil {
			address, _ := strconv.ParseInt(m[1], 16, 64) // digits
			i := Instruction{Address: int(address), Guard: m[2], Op: m[3], Args: m[4]}
			for _, t := range targetWord.FindAllStringSubmatch(line, -1) {
				i.Targets = append(i.Targets, t[1]+t[2])
			}
			now.code = append(now.code, i)
		}
	}
	return list
}
