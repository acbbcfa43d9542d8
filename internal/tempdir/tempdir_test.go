package tempdir_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/opcast/opcast/internal/tempdir"
)

const role = "OPCAST_TEST_TEMPDIR"

// TestMain lets the test binary play a process that makes a folder and waits for its end.
func TestMain(m *testing.M) {
	if parent := os.Getenv(role); parent != "" {
		f, err := tempdir.Make(parent, "dead")
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
	mine, err := tempdir.Make(parent, "mine")
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
		second, err := tempdir.Make(parent, "second")
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
