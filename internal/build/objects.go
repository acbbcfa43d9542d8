package build

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/system/cache"
	"github.com/opcast/opcast/internal/system/safefile"
)

// An object is used in another project, or again in this one, on the same condition as the one in the build folder: if its
// command and all that its compiler read are the same.

// unseen are options by which a compiler reads or writes what it does not tell, or makes something for this machine.
var unseen = regexp.MustCompile(`(arch|architecture|tune|cpu)[= ]native|-fprofile-|-fauto-profile|-fplugin|-fpass-plugin|-specs|--config|` +
	`-optf|--options-file|--coverage|-gsplit-dwarf|(^|\s)'?@`)

// located are options by which nvcc writes the place of a project into an object.
var located = regexp.MustCompile(`(^|[\s=,'])(-g(gdb)?\d?|-G|-lineinfo|--generate-line-info|--device-debug|--debug)([\s']|$)`)

// cacheKey is the key of a unit's objects in the cache; empty if none are kept: of the unit with the build's id, since no other
// build has it, of what another machine would make otherwise, and of AMD's compiler, most of whose parts nobody has looked at.
func (j *job) cacheKey(u unit) string {
	if !j.o.Objects.On() {
		return ""
	}
	in, parts := j.plan.in, ""
	words := strings.Join(in.compiler.Words, " ") + " " + u.flags + " " + in.environment
	if forGPU(u.source) && !in.isEmulated(u.source) {
		if words += " " + strings.Join(in.nvccFlags("-std=c++17"), " "); in.cuda == nil || located.MatchString(words) {
			return ""
		}
		if j.parts == nil {
			found := in.cuda.Parts()
			j.parts = &found
		}
		if parts = *j.parts; parts == "" {
			return ""
		}
	}
	if strings.Contains(u.flags, "$build_id") || unseen.MatchString(words) {
		return ""
	}
	return tree.Key(u.key, u.source, parts)
}

// restore puts in place the object that a unit's command would make now, if the cache has it.
func (j *job) restore(u unit) (bool, error) {
	key := j.cacheKey(u)
	if key == "" {
		return false, nil
	}
	var made record
	object := j.o.Objects.Find(key, func(note, content []byte) bool {
		made = record{}
		if json.Unmarshal(note, &made) != nil || made.Key != u.key {
			return false
		}
		same, err := j.look.same(made)
		return err == nil && same && made.SHA256 == tree.ContentDigest(content)
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

// remember puts the objects that were made into the cache, unless somebody would miss the warnings that go with them.
func (j *job) remember(units []unit) {
	for _, u := range units {
		key, made := j.cacheKey(u), j.records[u.object]
		quiet := !j.log.spokeOf(u.source) || !slices.Contains(j.plan.in.kernels, u.source) || j.plan.in.project.Manifest.Build.Werror
		if key == "" || !quiet || slices.Contains(slices.Collect(maps.Values(made.Reads)), unknown) {
			continue
		}
		content, err := os.ReadFile(tree.Local(j.o.Project.Dir, u.object))
		if err != nil || tree.ContentDigest(content) != made.SHA256 {
			continue
		}
		if note, err := json.Marshal(made); err == nil {
			j.o.Objects.Keep(key, note, content)
		}
	}
	j.o.Objects.Trim()
}

// ObjectsOf opens the cache of objects among a user's caches. No collection has the name of its folder.
func ObjectsOf(getenv func(string) string) cache.Cache {
	folder := cache.Folder(getenv)
	if folder == "" {
		return cache.Cache{}
	}
	return cache.Open(filepath.Join(folder, ".objects"))
}
