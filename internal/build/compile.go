package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/system/safefile"
)

// job brings the libraries of a plan up to date.
type job struct {
	o       Options
	root    *os.Root
	plan    *plan
	ninja   string
	records records
	look    *look
	log     *buildLog
	parts   *string // of nvcc
	// touched is a file that changed while it was compiled.
	touched string
}

// errTouched says that sources changed while they were compiled, so that nobody knows what was compiled.
var errTouched = errors.New("the sources keep changing while they are compiled")

// work is the folder in the build folder in which commands make their files. It is new for each run, so that no link
// can lead their output elsewhere, and nothing that a killed run left is mistaken for a result.
func (j *job) work() string { return j.plan.path("work") }

// run compiles and links what is not up to date. Findings are mistakes that only a linked library shows.
func (j *job) run(ctx context.Context) (diag.List, error) {
	var err error
	if j.look, err = newLook(j.plan.in); err != nil {
		return nil, err
	}
	j.records = readRecords(j.root, j.plan.folder)
	units, libraries, err := j.outdated()
	if err != nil || len(units)+len(libraries) == 0 {
		return nil, err
	}
	j.log = newBuildLog(j.o.Log)
	j.o.Log = j.log
	began, err := j.begin(units, libraries)
	if err != nil {
		return nil, err
	}
	failed := runNinja(ctx, j.o, j.ninja, path.Join(j.work(), "build.ninja"))
	j.log.end()
	err = j.keepObjects(context.WithoutCancel(ctx), units, began, failed != nil) // what was compiled before a failure is of use, too
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	findings, err := j.keepLibraries(libraries)
	return findings, errors.Join(err, safefile.RemoveAll(j.root, j.work()))
}

// outdated lists the units and libraries that have to be made; units that the cache has are put in place. Where a unit is
// compiled, its library is linked.
func (j *job) outdated() (units []unit, libraries []library, err error) {
	stale := map[string]bool{}
	for _, u := range j.plan.units {
		fresh, err := j.records.fresh(u.object, u.key, j.look)
		if err != nil {
			return nil, nil, err
		}
		if !fresh {
			if fresh, err = j.restore(u); err != nil {
				return nil, nil, err
			}
		}
		if !fresh {
			stale[u.source] = true
			units = append(units, u)
		}
	}
	for _, l := range j.plan.libraries {
		again := slices.ContainsFunc(l.sources, func(s string) bool { return stale[s] })
		if !again {
			linked, err := j.linkRecord(l)
			if err != nil {
				return nil, nil, err
			}
			fresh, err := j.records.fresh(l.output, linked.Key, j.look)
			if err != nil {
				return nil, nil, err
			}
			again = !fresh || !maps.Equal(j.records[l.output].Reads, linked.Reads)
		}
		if again {
			libraries = append(libraries, l)
		}
	}
	return units, libraries, nil
}

// linkRecord is the record of a library that is linked from the objects in the build folder, without its digest.
func (j *job) linkRecord(l library) (record, error) {
	r := record{Key: j.plan.key("-o " + l.name + " " + l.patterns() + " " + j.plan.in.linkFlags(l)), Reads: map[string]string{}}
	files := slices.Concat(j.plan.in.libraries, j.plan.in.outside, j.plan.in.stubs)
	for _, s := range l.sources {
		files = append(files, j.plan.object(s))
	}
	for _, f := range files {
		digest, err := j.look.Of(j.look.place.file(f))
		if err != nil {
			return r, err
		}
		r.Reads[f] = digest
	}
	return r, nil
}

// begin makes the folder of work and returns the file system's time: what changes from now on may or may not be compiled.
func (j *job) begin(units []unit, libraries []library) (time.Time, error) {
	if err := safefile.RemoveAll(j.root, j.work()); err != nil {
		return time.Time{}, err
	}
	build := j.plan.file(j.work(), units, libraries)
	build.Vars = append(j.plan.in.machine(j.plan.id), build.Vars...)
	files := j.plan.precompile(build, j.work(), units)
	text, err := build.Text()
	if err != nil {
		return time.Time{}, err
	}
	for name, text := range files {
		if _, err := safefile.Write(j.root, name, []byte(text)); err != nil {
			return time.Time{}, err
		}
	}
	for _, u := range units {
		if err := safefile.MkdirAll(j.root, path.Dir(u.object)); err != nil {
			return time.Time{}, err
		}
	}
	time.Sleep(10 * time.Millisecond) // file systems count in steps of milliseconds; the sources' step shall be over
	file := path.Join(j.work(), "build.ninja")
	if _, err := safefile.Write(j.root, file, []byte(text)); err != nil {
		return time.Time{}, err
	}
	return changed(tree.Local(j.o.Project.Dir, file))
}

// keepObjects puts the objects that became complete in place and writes down what they were made from.
func (j *job) keepObjects(ctx context.Context, units []unit, began time.Time, failed bool) error {
	reads, err := readDependencies(ctx, j.o.Project.Dir, j.ninja, path.Join(j.work(), "build.ninja"))
	if err != nil {
		return err
	}
	headers := j.look.headers // a header that came while the compilers ran was not there for all of them
	if j.look, err = newLook(j.plan.in); err != nil {
		return err
	}
	j.look.headers = headers
	var kept []unit
	for _, u := range units {
		made := j.plan.within(j.work(), u.object)
		files, complete := reads[made]
		if !complete {
			if !failed {
				j.touched = made // nobody knows what is in it
			}
			continue
		}
		if err := j.keepObject(u, made, files, began); err != nil {
			return err
		}
		kept = append(kept, u)
	}
	j.forget()
	if err := j.records.write(j.root, j.plan.folder); err != nil {
		return err
	}
	now, err := j.plan.in.sum()
	switch {
	case err != nil:
		return err
	case j.touched != "":
		return fmt.Errorf("%w: %s", errTouched, j.touched)
	case now != j.plan.in.digest:
		return errTouched
	}
	j.remember(kept)
	return nil
}

// keepObject puts an object in place, unless a file that the compiler read has changed since.
func (j *job) keepObject(u unit, made string, files []string, began time.Time) error {
	r := record{Key: u.key, Reads: map[string]string{}}
	for _, f := range files {
		name := j.look.place.name(f)
		if strings.HasPrefix(name, j.work()+"/") {
			continue // what only includes a header, to compile that
		}
		file := j.look.place.file(name)
		when, err := changed(file)
		if errors.Is(err, fs.ErrNotExist) {
			// Gone, or ninja has shortened a path with ".." in it beyond a link. No file has this digest: it is compiled
			// again by the next build.
			r.Reads[name] = unknown
			continue
		}
		if err != nil || !when.Before(began) {
			j.touched = name
			return nil
		}
		if r.Reads[name], err = j.look.Of(file); err != nil {
			return err
		}
		asked, err := j.look.asks(file)
		if err != nil {
			return err
		}
		r.Asks = append(r.Asks, asked...)
	}
	slices.Sort(r.Asks)
	r.Asks = slices.Compact(r.Asks)
	r.Namesakes = j.look.namesakes(r)
	var err error
	if r.SHA256, err = tree.FileDigest(tree.Local(j.o.Project.Dir, made)); err != nil {
		return fmt.Errorf("read object: %w", err)
	}
	return j.keep(made, u.object, r)
}

// keep moves a file from the folder of work to its place.
func (j *job) keep(made, place string, r record) error {
	if err := j.root.Rename(made, place); err != nil {
		return fmt.Errorf("put %s in place: %w", place, err)
	}
	j.records[place] = r
	return nil
}

// keepLibraries puts libraries without findings in place.
func (j *job) keepLibraries(libraries []library) (diag.List, error) {
	findings, err := check(j.o, j.plan.in.newer, libraries, func(l library) string { return j.plan.within(j.work(), l.output) })
	if err != nil || len(findings) > 0 {
		return findings, err
	}
	for _, l := range libraries {
		r, err := j.linkRecord(l)
		if err != nil {
			return nil, err
		}
		made := j.plan.within(j.work(), l.output)
		if r.SHA256, err = tree.FileDigest(tree.Local(j.o.Project.Dir, made)); err != nil {
			return nil, fmt.Errorf("read library: %w", err)
		}
		if err := j.keep(made, l.output, r); err != nil {
			return nil, err
		}
	}
	return nil, j.records.write(j.root, j.plan.folder)
}

// forget removes objects of sources that are gone, and their records.
func (j *job) forget() {
	wanted := map[string]bool{}
	for _, u := range j.plan.units {
		wanted[u.object] = true
	}
	for _, l := range j.plan.libraries {
		wanted[l.output] = true
	}
	for file := range j.records {
		if wanted[file] {
			continue
		}
		delete(j.records, file)
		// A record may have been written by anybody.
		if file == path.Clean(file) && strings.HasPrefix(file, j.plan.folder+"/") {
			_ = j.root.Remove(file) // a file that stays is not used
		}
	}
}
