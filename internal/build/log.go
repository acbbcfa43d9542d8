package build

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
)

// buildLog passes on what ninja says, which is a line for each command that has ended, and what that command said. It knows which
// commands said something: a compiler has warnings then. On a terminal, the lines about commands take each other's place.
type buildLog struct {
	to   io.Writer
	live bool
	// rest is the beginning of a line, command what the last command's line says of it, and shown whether the cursor is behind that line.
	rest    []byte
	command string
	shown   bool
	spoke   []string
}

// ninjaStatus is the variable by which ninja begins its lines in this way, which status matches.
const ninjaStatus = "NINJA_STATUS=[%f/%t] "

var status = regexp.MustCompile(`^\[\d+/\d+\] `)

func newBuildLog(to io.Writer) *buildLog {
	l := &buildLog{to: diag.Raw(to)}
	if file, ok := l.to.(*os.File); ok {
		info, err := file.Stat()
		l.live = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return l
}

func (l *buildLog) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		if err := l.line(string(line)); err != nil {
			return 0, err
		}
		l.rest = rest
	}
}

// line passes on one line.
func (l *buildLog) line(line string) error {
	begin, end := "", "\n"
	isStatus := status.MatchString(line)
	if isStatus {
		l.command = line
	} else {
		l.spoke = append(l.spoke, l.command)
	}
	if l.live && isStatus {
		begin, end = "\r", "\x1b[K" // which clears what is left of a longer line
	} else if l.shown {
		begin = "\n"
	}
	l.shown = l.live && isStatus
	_, err := fmt.Fprint(l.to, begin, diag.Plain(line), end)
	return err
}

// end passes on what is left when ninja has ended.
func (l *buildLog) end() {
	if len(l.rest) > 0 {
		_ = l.line(string(l.rest)) // nobody is left to be told
		l.rest = nil
	}
	if l.shown {
		l.shown = false
		fmt.Fprintln(l.to)
	}
}

// spokeOf reports whether a command said something that compiled the source, or a header for several of them.
func (l *buildLog) spokeOf(source string) bool {
	for _, command := range l.spoke {
		if strings.Contains(command, source) || strings.HasSuffix(command, ".h") {
			return true
		}
	}
	return false
}
