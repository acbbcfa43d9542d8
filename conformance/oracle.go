package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/rpc"
)

// Expected is the reference's answer for one slot; Absent where it is None.
type Expected struct {
	Shape  []int64
	Values []float64
	Absent bool
}

// Oracle evaluates the reference of a definition.
type Oracle interface {
	// Reference evaluates in float64, or in float32 to see where intermediate results leave its range.
	Reference(ctx context.Context, c *Case, precision string) ([]Expected, error)
	// Differences differentiates the reference numerically.
	Differences(ctx context.Context, c *Case, cotangents []*ndarray.Array, inputs []int) ([]Slopes, error)
}

// remoteOracle asks the NumPy worker, once per case.
type remoteOracle struct {
	worker *rpc.Worker
	cache  map[[sha256.Size]byte][]Expected
}

// Reference evaluates the reference on the inputs as rounded to their dtypes.
func (o *remoteOracle) Reference(ctx context.Context, c *Case, precision string) ([]Expected, error) {
	request, p := referenceRequest(c, precision)
	key := cacheKey(request, p.blobs)
	if have, ok := o.cache[key]; ok {
		return have, nil
	}
	m, err := o.worker.Call(ctx, request, p.blobs)
	if err != nil {
		return nil, fmt.Errorf("reference of %s: %w", c.Op.Name, err)
	}
	out, _, err := readExpected(m)
	if err != nil {
		return nil, fmt.Errorf("reference of %s: %w", c.Op.Name, err)
	}
	if err := fits(c, out); err != nil {
		return nil, err
	}
	o.cache[key] = out
	return out, nil
}

// readExpected reads an answer; missing names a module that a formula needs and that is not installed.
func readExpected(m rpc.Message) (out []Expected, missing string, err error) {
	var answer struct {
		Error, Missing string
		Outputs        []struct {
			Shape  []int64
			Absent bool
		}
	}
	if err := json.Unmarshal(m.Header, &answer); err != nil {
		return nil, "", err
	}
	if answer.Error != "" {
		return nil, "", errors.New(answer.Error)
	}
	for i, o := range answer.Outputs {
		out = append(out, Expected{o.Shape, float64s(m.Blobs[i]), o.Absent})
	}
	return out, answer.Missing, nil
}

// fits holds the answer of a reference against the slots of its op: None stands exactly where there is nothing to give.
func fits(c *Case, got []Expected) error {
	list := slots(c.Op)
	if len(got) != len(list) {
		return fmt.Errorf("reference of %s: it returns %d arrays, want %d", c.Op.Name, len(got), len(list))
	}
	for i, s := range list {
		if got[i].Absent == c.has(s) {
			return fmt.Errorf("reference of %s: %s is None: got %t, want %t", c.Op.Name, s.Name, got[i].Absent, !c.has(s))
		}
	}
	return nil
}

// referenceRequest gives the reference its inputs, attrs and lets by name.
func referenceRequest(c *Case, precision string) (map[string]any, *packer) {
	p := &packer{}
	arguments := map[string]tagged{}
	order := []string{}
	give := func(name string, v tagged) {
		arguments[name] = v
		order = append(order, name)
	}
	for i, a := range c.Inputs {
		if a == nil {
			give(c.Op.Inputs[i].Name, tagged{"none": nil})
		} else {
			give(c.Op.Inputs[i].Name, p.array(&Tensor{Array: a.Dense()}))
		}
	}
	for i := range c.Op.Attrs {
		give(c.Op.Attrs[i].Name, p.value(c.referenceAttr(i)))
	}
	for _, l := range c.Op.Lets {
		v, _ := c.Int(l.Name)
		give(l.Name, p.value(v))
	}
	text, module := c.Op.Reference, false
	if c.Op.ReferenceModule != "" {
		text, module = c.Op.ReferenceModule, true
	}
	return map[string]any{
		"do": "reference", "file": c.Op.File, "text": text, "module": module, "precision": precision,
		"arguments": arguments, "order": order,
	}, p
}

// referenceAttr is the value that the reference sees: defaults filled in, expressions computed, dtypes by name.
func (c *Case) referenceAttr(i int) any {
	a := &c.Op.Attrs[i]
	v, given := c.Attrs[a.Name]
	switch {
	case given:
	case a.DefaultExpr != nil && a.Type == "float":
		v, _ = a.DefaultExpr.EvalFloat(c)
	case a.DefaultExpr != nil:
		v, _ = a.DefaultExpr.Eval(c)
	case a.Type == "dtype":
		v = long(c.defaultDType(a))
	default:
		v = a.Default
	}
	if d, ok := v.(DType); ok {
		return string(d)
	}
	return v
}

// cacheKey identifies a request; the lengths of its blobs are in its text.
func cacheKey(request any, blobs [][]byte) [sha256.Size]byte {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(request) // made of marshallable parts, and a hash takes everything
	for _, b := range blobs {
		h.Write(b)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func float64s(data []byte) []float64 {
	out := make([]float64, len(data)/8)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return out
}
