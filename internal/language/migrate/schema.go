package migrate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// schemaKinds are the types of PyTorch's schemas that an op can have.
var schemaKinds = map[string]Kind{
	"Tensor": Array, "int": Int, "SymInt": Int, "float": Float, "Scalar": Float, "number": Float, "bool": Bool, "str": Str, "ScalarType": DType,
}

// schema reads a schema of PyTorch: ns::name.overload(Tensor x, Tensor(a!) out, *, float eps=1e-6) -> (Tensor, Tensor).
func schema(source string) (Function, error) {
	s := &schemaReader{tokens: lex(source)}
	f := Function{Written: strings.Join(strings.Fields(source), " ")}
	open := slices.IndexFunc(s.tokens, func(t token) bool { return t.text == "(" })
	if open < 1 {
		return f, errors.New("a schema has a name and parameters in parentheses")
	}
	for i, t := range s.tokens[:open] { // the last word before the overload
		if t.kind == word && (i == 0 || s.tokens[i-1].text == "::") {
			f.Name = t.text
		}
	}
	end := closing(s.tokens, open)
	rest := s.tokens[min(len(s.tokens), end+1):]
	if f.Name == "" || end == len(s.tokens) || len(rest) < 2 || rest[0].text != "->" {
		return f, errors.New("a schema has the form name(Tensor x, ...) -> Tensor")
	}
	for _, part := range split(s.tokens[open+1:end], ",") {
		if joined(part) == "*" {
			continue
		}
		p, err := schemaParam(part)
		if err != nil {
			return f, err
		}
		f.Params = append(f.Params, p)
	}
	results := rest[1:]
	if results[0].text == "(" {
		results = results[1:min(len(results), closing(results, 0))]
	}
	for _, part := range split(results, ",") {
		p, err := schemaParam(part)
		if err != nil {
			return f, err
		}
		f.Results = append(f.Results, p)
	}
	return f, nil
}

type schemaReader struct{ tokens []token }

// take removes the first token if it has one of the texts.
func (s *schemaReader) take(texts ...string) bool {
	if len(s.tokens) > 0 && slices.Contains(texts, s.tokens[0].text) {
		s.tokens = s.tokens[1:]
		return true
	}
	return false
}

// schemaParam reads `Tensor(a!)? name=None`, or a result, which need not have a name.
func schemaParam(tokens []token) (Param, error) {
	if len(tokens) == 0 {
		return Param{}, errors.New("a parameter is missing")
	}
	p := Param{sure: true}
	if at := slices.IndexFunc(tokens, func(t token) bool { return t.text == "=" }); at >= 0 {
		p.setDefault(tokens[at+1:])
		tokens = tokens[:at]
	}
	if n := len(tokens); n > 1 && tokens[n-1].kind == word && tokens[n-2].text != "." && tokens[n-2].text != "::" {
		p.Name, tokens = tokens[n-1].text, tokens[:n-1]
	}
	if len(tokens) == 0 {
		return p, fmt.Errorf("the parameter %s has no type", p.Name)
	}
	p.Type = joined(tokens)
	s := &schemaReader{tokens: tokens[1:]}
	p.Kind = schemaKinds[tokens[0].text]
	s.alias(&p)
	if s.take("!") { // a short form that some projects write for (a!)
		p.Written = true
	}
	optional := s.take("?")
	if s.take("[") {
		if len(s.tokens) > 0 && s.tokens[0].kind == number {
			p.Len = wholeNumber(s.tokens[0].text)
			s.tokens = s.tokens[1:]
		}
		s.take("]")
		s.alias(&p)
		list := map[Kind]Kind{Array: List, Int: Ints}[p.Kind]
		if optional { // Tensor?[]: arrays that may be absent one by one
			list = Other
		}
		p.Kind, optional = list, s.take("?")
	}
	p.Optional = optional
	if len(s.tokens) > 0 {
		p.Kind = Other
	}
	return p, nil
}

// alias reads (a!), which says that the function writes the tensor, or (a).
func (s *schemaReader) alias(p *Param) {
	if len(s.tokens) == 0 || s.tokens[0].text != "(" {
		return
	}
	end := closing(s.tokens, 0)
	p.Written = p.Written || contains(s.tokens[:end], "!")
	s.tokens = s.tokens[min(len(s.tokens), end+1):]
}
