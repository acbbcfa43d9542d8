package calls

import "encoding/json"

// ConcurrentRequest is a request for calls at once; each has its blobs in one list.
type ConcurrentRequest struct {
	Do     string           `json:"do"`
	Calls  []ConcurrentCall `json:"calls"`
	Repeat int              `json:"repeat"`
}

// ConcurrentCall is one of the calls, with the numbers of its first blob and of the one after its last.
type ConcurrentCall struct {
	Call WireCall `json:"call"`
	From int      `json:"from"`
	To   int      `json:"to"`
}

// ConcurrentAnswers are the different answers of all threads, with the numbers of their blobs.
type ConcurrentAnswers struct {
	Answers []ThreadAnswer `json:"answers"`
}

// ThreadAnswer is one of the different results that a thread got, or the error that it met.
type ThreadAnswer struct {
	Thread int             `json:"thread"`
	Body   json.RawMessage `json:"body"`
	Blobs  int             `json:"blobs"`
}

// What requests ask for beside plain calls.
const (
	DoRandom  = "random"
	DoUsage   = "usage"
	DoThreads = "threads"
)
