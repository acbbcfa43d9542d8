package tempdir_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/opcast/opcast/internal/system/tempdir"
)

const role = "OPCAST_TEST_TEMPDIR"

// TestMain lets the test binary play a process that makes a folder and waits for its end.
func TestMain(m *testing.M) {
	if parent := os.Getenv(role); parent != "" {
		f, err := tempdir.Make(parent, "opcast-dead")
		if err != nil {
			panic(err)
		}
		fmt.Println(f.Path)
		select {}
	}
	os.Exit(m.Run())
}

// Folders of processes that live stay; those of a process that was killed go with the next folder that is made.
func TestFoldersOfDeadProcesses(t *testing.T) {
	parent := t.TempDir()
	mine, err := tempdir.Make(parent, "opcast-mine")
	if err != nil {
		t.Fatal(err)
	}
	strange := filepath.Join(parent, "strange")
	if err := os.Mkdir(strange, 0o755); err != nil {
		t.Fatal(err)
	}
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), role+"="+parent)
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	theirs := line[:len(line)-1]
	exists := func(path string) bool {
		second, err := tempdir.Make(parent, "opcast-second")
		if err != nil {
			t.Fatal(err)
		}
		defer second.Remove()
		_, err = os.Stat(path)
		return err == nil
	}
	if !exists(theirs) {
		t.Error("the folder of a living process is gone")
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	if exists(theirs) {
		t.Error("the folder of a dead process is still there")
	}
	if !exists(mine.Path) || !exists(strange) {
		t.Error("a folder is gone that nobody abandoned")
	}
	if err := mine.Remove(); err != nil || exists(mine.Path) {
		t.Errorf("a folder that was removed is there, %v", err)
	}
}

// What a process leaves that is killed before it has locked its folder, or while it removes it, goes with the next folder
// of that name. A folder that holds something else stays, and so does one of another name.
func TestHalfMade(t *testing.T) {
	parent := t.TempDir()
	for _, tt := range []struct {
		folder, file string
		stays        bool
	}{
		{"new-1", "", false}, {"new-2", ".opcast-running.new", false}, {"new-3", "file", true}, {"new-mine", "", true}, {"other-1", "", true},
	} {
		dir := filepath.Join(parent, tt.folder)
		err := os.Mkdir(dir, 0o755)
		if tt.file != "" {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, tt.file), nil, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := tempdir.Make(parent, "new")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, tt.file)); (err == nil) != tt.stays {
			t.Errorf("%s: %v, want it to stay: %v", tt.folder, err, tt.stays)
		}
		if err := f.Remove(); err != nil {
			t.Error(err)
		}
	}
}

// Folders that many processes make at once are whole, though each removes what the others seem to have left.
func TestManyAtOnce(t *testing.T) {
	parent := t.TempDir()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 100 {
				f, err := tempdir.Make(parent, "many")
				if err == nil {
					err = errors.Join(os.WriteFile(filepath.Join(f.Path, "file"), nil, 0o600), f.Remove())
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

// A folder that has the lock of ours and another name is somebody's copy: it stays.
func TestCopiesStay(t *testing.T) {
	parent := t.TempDir()
	kept := filepath.Join(parent, "keep")
	f, err := tempdir.Make(parent, "opcast-copied")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(kept, os.DirFS(f.Path)); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(); err != nil {
		t.Fatal(err)
	}
	second, err := tempdir.Make(parent, "opcast-copied")
	if err != nil {
		t.Fatal(err)
	}
	defer second.Remove()
	if entries, err := os.ReadDir(kept); err != nil || len(entries) == 0 {
		t.Errorf("the copy holds %v, %v", entries, err)
	}
}
