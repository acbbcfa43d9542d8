// Package tomldoc reads TOML files for programs that must explain their mistakes.
//
// A Document remembers where every key and value stands, so that a message can point there, and fills Go structs without
// stopping at the first value of a wrong type. Values are named by paths such as "inputs[1].type".
package tomldoc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/tomlfmt"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// maxIndexDepth is the depth to which positions are kept; the schema is four levels deep.
const maxIndexDepth = 8

// Document is a parsed TOML file: its values, and the place of every key and array element.
type Document struct {
	file   string
	data   []byte
	values map[string]any
	places map[string]place
	// lines holds the offset at which each line begins.
	lines []int
	// bad holds the paths whose value has the wrong type: what is missing in them needs no second report.
	bad   map[string]bool
	diags *diag.List
}

// place is where a key and its value stand. Array elements have no key, values without text of their own no value.
type place struct {
	key, value diag.Pos
	// plain says that the value is a string whose bytes stand in the file as they are, right after one quote.
	plain bool
}

// ByteOrderMark may begin a file; it is no part of the text.
const ByteOrderMark = "\ufeff"

// Parse parses the contents of a file. Syntax errors are added to diags, and so are the mistakes that Decode finds later.
// After a syntax error the document is nil.
func Parse(file string, data []byte, diags *diag.List) *Document {
	data = bytes.TrimPrefix(data, []byte(ByteOrderMark)) // editors on Windows write it, and none counts it as a column
	d := &Document{file: file, data: data, values: map[string]any{}, places: map[string]place{}, bad: map[string]bool{}, diags: diags}
	d.lines = []int{0}
	for i, c := range data {
		if c == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	err := tomlfmt.Read(data, &d.values)
	var limit *tomlfmt.LimitError
	if errors.As(err, &limit) {
		d.diags.Add(d.pos(limit.At), code.File, "", "%s", limit.What)
		return nil
	}
	var syntax *toml.DecodeError
	if errors.As(err, &syntax) {
		line, col := syntax.Position()
		d.diags.Add(diag.Pos{File: file, Line: line, Col: col}, code.Syntax, "", "%s", strings.TrimPrefix(syntax.Error(), "toml: "))
		return nil
	}
	if err != nil {
		d.diags.Add(d.pos(0), code.Syntax, "", "%s", strings.TrimPrefix(err.Error(), "toml: "))
		return nil
	}
	if at, what := tomlfmt.Newer(string(data)); what != "" { // Python's tomllib must read these files, too
		d.diags.Add(d.pos(at), code.Syntax, newerHints[what], "%s, which TOML 1.0 does not have", what)
	}
	newIndexer(d).run()
	return d
}

// newerHints say what to write instead of what is new.
var newerHints = map[string]string{
	"line break inside an inline table":            "write the table on one line, or as a [table] of its own",
	"comment inside an inline table":               "write the comment above the line of the table",
	"comma behind the last key of an inline table": "leave it out",
}

func (d *Document) pos(offset int) diag.Pos {
	line, exact := slices.BinarySearch(d.lines, offset)
	if !exact {
		line--
	}
	return diag.Pos{File: d.file, Line: line + 1, Col: offset - d.lines[line] + 1}
}

// Has says whether the file gives the path a value. It says so too of a path inside a value of the wrong type, so that what
// is missing there is not reported a second time.
func (d *Document) Has(path string) bool {
	_, given := d.places[path]
	return given || d.Tainted(path)
}

// Given says whether the file gives the path a value of the right type. Only Decode finds out about types.
func (d *Document) Given(path string) bool {
	_, given := d.places[path]
	return given && !d.Tainted(path)
}

// Tainted says whether the path, or something around it, has a value of the wrong type.
func (d *Document) Tainted(path string) bool {
	for ; path != ""; path = Parent(path) {
		if d.bad[path] {
			return true
		}
	}
	return false
}

// At returns where the value of the path stands. Where there is none it returns the place of the key, else of what would
// contain it.
func (d *Document) At(path string) diag.Pos {
	for ; path != ""; path = Parent(path) {
		if p, ok := d.places[path]; ok {
			return cmp.Or(p.value, p.key)
		}
	}
	return d.pos(0)
}

// KeyAt returns where the key of the path stands. Where there is none it returns the same as At.
func (d *Document) KeyAt(path string) diag.Pos {
	return cmp.Or(d.places[path].key, d.At(path))
}

// In returns the place of a byte inside the string at the path. Where the file writes the string with escapes or over several
// lines, it returns the place of the whole string.
func (d *Document) In(path string, offset int) diag.Pos {
	pos := d.At(path)
	if d.places[path].plain {
		pos.Col += 1 + offset
	}
	return pos
}

// Texts calls a function with every string value and its path, in the order of paths.
func (d *Document) Texts(visit func(path, text string)) { visitTexts("", d.values, visit) }

func visitTexts(path string, value any, visit func(path, text string)) {
	switch v := value.(type) {
	case string:
		visit(path, v)
	case []any:
		for i, item := range v {
			visitTexts(Element(path, i), item, visit)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			visitTexts(Join(path, key), v[key], visit)
		}
	}
}

// Positions returns where every path that the file gives stands, as At does.
func (d *Document) Positions() map[string]diag.Pos {
	positions := make(map[string]diag.Pos, len(d.places))
	for path := range d.places {
		positions[path] = d.At(path)
	}
	return positions
}

// Join appends a key to a path. Keys with unusual characters are quoted.
func Join(path, key string) string {
	if key == "" || strings.ContainsAny(key, ".[]\"") {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// Element appends an index to a path.
func Element(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// Parent cuts the last key or index off a path. The parent of a single key is empty.
func Parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

// indexer walks the syntax tree and fills Document.places.
type indexer struct {
	*Document
	parser unstable.Parser
	// tables counts the elements of each array of tables.
	tables map[string]int
}

func newIndexer(d *Document) *indexer { return &indexer{Document: d, tables: map[string]int{}} }

func (x *indexer) run() {
	x.parser.Reset(x.data)
	prefix := ""
	for x.parser.NextExpression() {
		switch n := x.parser.Expression(); n.Kind {
		case unstable.Table:
			prefix, _ = x.key("", n, 0)
		case unstable.ArrayTable:
			path, pos := x.key("", n, 0)
			prefix = Element(path, x.tables[path])
			x.tables[path]++
			x.places[prefix] = place{key: pos}
		case unstable.KeyValue:
			x.keyValue(prefix, n, 0)
		}
	}
}

// key records the parts of a dotted key and returns its path and the place of its last part.
func (x *indexer) key(prefix string, n *unstable.Node, depth int) (path string, pos diag.Pos) {
	for it := n.Key(); it.Next() && depth < maxIndexDepth; depth++ {
		if count := x.tables[prefix]; count > 0 {
			prefix = Element(prefix, count-1)
		}
		prefix = Join(prefix, string(it.Node().Data))
		pos = x.pos(int(it.Node().Raw.Offset))
		if _, seen := x.places[prefix]; !seen {
			x.places[prefix] = place{key: pos}
		}
	}
	return prefix, pos
}

func (x *indexer) keyValue(prefix string, n *unstable.Node, depth int) {
	path, pos := x.key(prefix, n, depth)
	x.value(path, n.Value(), pos, depth+1)
}

// value records where a value stands: at its own text, or else at the nearest text before it.
func (x *indexer) value(path string, n *unstable.Node, near diag.Pos, depth int) {
	if depth > maxIndexDepth {
		return
	}
	p := x.places[path]
	p.value = near
	if n.Raw.Length > 0 {
		p.value = x.pos(int(n.Raw.Offset))
		p.plain = n.Kind == unstable.String && int(n.Raw.Length) == len(n.Data)+2
	}
	x.places[path] = p
	switch n.Kind {
	case unstable.Array:
		it := n.Children()
		for i := 0; it.Next(); i++ {
			x.value(Element(path, i), it.Node(), p.value, depth+1)
		}
	case unstable.InlineTable:
		x.inlineTable(path, n, depth)
	}
}

func (x *indexer) inlineTable(path string, n *unstable.Node, depth int) {
	for it := n.Children(); it.Next(); {
		x.keyValue(path, it.Node(), depth)
	}
}
