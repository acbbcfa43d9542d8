package e2e

import (
	"path/filepath"
	"testing"
)

// A framework that has no array of a dtype, such as JAX of int64 while x64 is off, cannot be asked for such a call; that is no error
// of the op whose results were to be passed on.
func TestChainWithoutADType(t *testing.T) {
	script := `
from opcast_worker.bound import Unsupported
from opcast_worker.chain_caller import Chain

class Lacks:
    missing = ""
    lists = ()

    def untag(self, tagged, make):
        raise Unsupported("no int64 here")

chain = Chain({"adaptors": []})
chain.callers = {"a": Lacks(), "b": Lacks()}
answer = chain.chain({"first": "a", "second": "b", "lists": [], "args": [{}], "kwargs": {}, "take": 0, "feed": 0}, [])
assert answer == ({"unsupported": "no int64 here"}, []), answer
`
	c := command(t, root(t), python(t), "-c", script)
	c.Env = append(c.Environ(), "PYTHONPATH="+filepath.Join(root(t), "conformance", "internal", "worker"))
	run(t, c)
}
