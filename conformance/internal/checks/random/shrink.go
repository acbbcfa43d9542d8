package random

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"github.com/opcast/opcast/internal/language/ndarray"
)

// shrinkTime bounds the search for a smaller failing example.
const shrinkTime = 20 * time.Second

// invalidExamples is how many times more examples may be none than are wanted.
const invalidExamples = 10

// Choices are the decisions that make one example of a property. Each is a number, and a smaller one makes a simpler example.
// How many there are, and what each is about, should not depend on their values: shrinking changes one at a time.
type Choices struct {
	// given are the first decisions; random makes the others, which are zero without it.
	given  []int64
	random *rand.Rand
	// made are all decisions so far.
	made []int64
}

// UpTo decides on a number from zero to a limit.
func (c *Choices) UpTo(limit int64) int64 {
	n := int64(0)
	if at := len(c.made); at < len(c.given) {
		n = min(c.given[at], limit)
	} else if c.random != nil {
		n = c.random.Int64N(limit + 1)
	}
	c.made = append(c.made, n)
	return n
}

// yes decides on something that is left alone in simple examples.
func (c *Choices) yes() bool { return c.UpTo(1) == 1 }

// oneOf decides on an item of a list, of which the first is the simplest.
func oneOf[E any](c *Choices, items []E) E { return items[c.UpTo(int64(len(items)-1))] }

// property reports whether an example has it, and whether the choices make an example at all.
type property func(c *Choices) (holds, valid bool)

// SearchResult is what became of a property.
type SearchResult struct {
	// Tried counts the valid examples that have the property.
	Tried int
	// Failed says that one has it not; of those the property has seen the smallest last.
	Failed bool
}

// Falsify looks for an example that breaks a property, and for a small one among those. The same name gives the same
// examples.
func Falsify(name string, examples int, holds property) (found SearchResult, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("property: panic: %v\n%s", broken, debug.Stack())
		}
	}()
	for i := 0; found.Tried < examples && i < examples*(1+invalidExamples); i++ {
		c := &Choices{random: ndarray.Rand(fmt.Sprintf("property/%s/%d", name, i))}
		switch ok, valid := holds(c); {
		case !valid:
		case ok:
			found.Tried++
		default:
			shrink(c.made, holds)
			return SearchResult{found.Tried, true}, nil
		}
	}
	return found, nil
}

// shrink lowers the decisions of a failing example one by one, by halves of what they are, as long as some smaller example
// fails and there is time.
func shrink(best []int64, holds property) {
	end := time.Now().Add(shrinkTime)
	for lower := true; lower; {
		lower = false
		for at := 0; at < len(best); at++ {
			for step := best[at]; step > 0 && time.Now().Before(end); {
				c := &Choices{given: slices.Clone(best)}
				c.given[at] -= step
				if ok, valid := holds(c); ok || !valid {
					step /= 2
					continue
				}
				best, lower = c.made, true
				step = min(step, best[at])
			}
		}
	}
}
