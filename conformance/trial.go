package conformance

import (
	"context"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/trial"
	"github.com/opcast/opcast/internal/language/opdef"
)

// TrialRequest says which call of an op somebody wants to try.
type TrialRequest = trial.Request

// Trial is one call of an op, with the reference's answer to it.
type Trial = trial.Call

// Answer is what the reference gives for one result.
type Answer = trial.Answer

// Verdict says how far a result of a trial is from the reference.
type Verdict = trial.Verdict

// DType is the value of an attribute that chooses a dtype.
type DType = cases.DType

// ListLength is the length of a list of arrays if nobody says another one.
const ListLength = cases.TestedLength

// AskReference makes the call that is wanted, and asks the reference alone.
func AskReference(ctx context.Context, python, root string, op *opdef.Op, w TrialRequest, limit time.Duration) (*Trial, error) {
	return trial.Reference(ctx, python, root, op, w, limit)
}

// NewTrial makes the call that is wanted. Shapes that fit no call give the error that the call would raise.
func NewTrial(op *opdef.Op, w TrialRequest) (*Trial, error) { return trial.New(op, w) }

// ListsOf says which arguments and results of an op are lists; nil if none is.
func ListsOf(op *opdef.Op) *calls.Lists { return calls.ListsOf(op) }

// KindOf is the kind of a device by its name: "cuda" of "cuda:0".
func KindOf(device string) string { return cases.KindOf(device) }
