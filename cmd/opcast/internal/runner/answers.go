package runner

import (
	"encoding/json"
	"fmt"
)

// Answer is what a kernel says about a call. An empty Reason means that it takes the call.
type Answer struct {
	Name   string `json:"name"`
	Device string `json:"device"`
	Reason string `json:"reason"`
}

// ReadAnswers reads what a library says about a call when it is asked by _opcast_explain: one answer for each kernel, in
// the order of dispatch.
func ReadAnswers(text string) ([]Answer, error) {
	var answers []Answer
	if err := json.Unmarshal([]byte(text), &answers); err != nil {
		return nil, fmt.Errorf("the library's explanation of a call: %w", err)
	}
	return answers, nil
}
