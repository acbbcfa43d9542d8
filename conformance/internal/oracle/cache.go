package oracle

import (
	"crypto/sha256"
	"encoding/json"
)

// mostCached is how many values are kept at a time, 64 MiB of them. The callers ask for the same ones soon after each other.
const mostCached = 1 << 23

// keep remembers an answer. If there are too many, it forgets the others.
func (o *Python) keep(key [sha256.Size]byte, answer []Expected) {
	values := 0
	for _, one := range answer {
		values += len(one.Values)
	}
	if o.cached += values; o.cached > mostCached {
		clear(o.Cache)
		o.cached = values
	}
	o.Cache[key] = answer
}

// CacheKey identifies a request; the lengths of its blobs are in its text.
func CacheKey(request any, blobs [][]byte) [sha256.Size]byte {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(request) // made of marshallable parts, and a hash takes everything
	for _, b := range blobs {
		h.Write(b)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
