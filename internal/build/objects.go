package build

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/system/safefile"
)

// An object is used in another project, or again in this one, on the same condition as the one in the build folder: if its
// command and all that its compiler read are the same.

// cacheKey is the key of a unit's objects in the cache.
func (u unit) cacheKey() string { return tree.Key(u.key, u.source) }

// cached says whether a unit's objects are kept: not those that say of which build they are.
func (u unit) cached() bool { return !strings.Contains(u.flags, "$build_id") }

// restore puts the object in place that a unit's command would make now, if the cache has it.
func (j *job) restore(u unit) (bool, error) {
	if !u.cached() {
		return false, nil
	}
	var made record
	object := j.o.Objects.Find(u.cacheKey(), func(note, content []byte) bool {
		made = record{}
		if json.Unmarshal(note, &made) != nil || made.Key != u.key || made.SHA256 != tree.ContentDigest(content) {
			return false
		}
		same, err := j.look.same(made)
		return err == nil && same
	})
	if object == nil {
		return false, nil
	}
	if _, err := safefile.Write(j.root, u.object, object); err != nil {
		return false, err
	}
	j.look.Digests[tree.Local(j.look.place.project, u.object)] = made.SHA256
	j.records[u.object] = made
	return true, nil
}

// remember puts an object that was made into the cache.
func (j *job) remember(u unit, made record) error {
	if !u.cached() || slices.Contains(slices.Collect(maps.Values(made.Reads)), unknown) {
		return nil
	}
	content, err := os.ReadFile(tree.Local(j.o.Project.Dir, u.object))
	if err != nil {
		return fmt.Errorf("read object: %w", err)
	}
	note, err := json.Marshal(made)
	if err != nil {
		return err
	}
	j.o.Objects.Keep(u.cacheKey(), note, content)
	return nil
}
