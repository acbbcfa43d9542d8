package predict

import (
	"fmt"
	"strconv"
	"strings"
)

// Launch is what a call starts on a device.
type Launch struct {
	// Kernel is the mangled name; empty for a fill or a copy of memory by CUDA's runtime, whose bytes are Bytes.
	Kernel               string
	Bytes                int64
	Grid, Block, Cluster [3]int
	// Shared are bytes of dynamic shared memory.
	Shared int
	// Arrays are the indices of the call's arrays to which its parameters point.
	Arrays []int
}

// Blocks and Threads are numbers of all blocks, and of the threads of one.
func (l *Launch) Blocks() int64 { return int64(l.Grid[0]) * int64(l.Grid[1]) * int64(l.Grid[2]) }

// Threads are those of a block.
func (l *Launch) Threads() int { return l.Block[0] * l.Block[1] * l.Block[2] }

// span is the memory of an array.
type span struct{ begin, bytes uint64 }

// ReadRecord reads what backend/recorder writes of a call: its launches, in order.
func ReadRecord(text string) (list []Launch, err error) {
	var arrays []span
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		bad := fmt.Errorf("read the record of a call: line %q", strings.TrimSpace(line))
		switch {
		case words[0] == "memory" && len(words) == 3:
			begin, first := strconv.ParseUint(words[1], 16, 64)
			bytes, second := strconv.ParseUint(words[2], 10, 64)
			if first != nil || second != nil {
				return nil, bad
			}
			arrays = append(arrays, span{begin, bytes})
		case words[0] == "fill" && len(words) == 3 || words[0] == "copy" && len(words) == 4:
			bytes, err := strconv.ParseInt(words[len(words)-1], 10, 64)
			if err != nil {
				return nil, bad
			}
			list = append(list, Launch{Bytes: bytes})
		case words[0] == "launch" && len(words) >= 12:
			l, err := readLaunch(words[1:], arrays)
			if err != nil {
				return nil, bad
			}
			list = append(list, l)
		default:
			return nil, bad
		}
	}
	return list, nil
}

// readLaunch reads "KERNEL GRID BLOCK CLUSTER SHARED WORD...".
func readLaunch(words []string, arrays []span) (l Launch, err error) {
	l.Kernel = words[0]
	var numbers [10]int
	for i := range numbers {
		if numbers[i], err = strconv.Atoi(words[1+i]); err != nil {
			return l, err
		}
	}
	l.Grid, l.Block, l.Cluster = [3]int(numbers[:3]), [3]int(numbers[3:6]), [3]int(numbers[6:9])
	l.Shared = numbers[9]
	pointed := map[int]bool{}
	for _, word := range words[11:] {
		value, err := strconv.ParseUint(word, 16, 64)
		if err != nil {
			return l, err
		}
		for i, a := range arrays {
			if value >= a.begin && value < a.begin+max(a.bytes, 1) && !pointed[i] {
				pointed[i] = true
				l.Arrays = append(l.Arrays, i)
			}
		}
	}
	return l, nil
}
