// Command ccache stands in for the compiler cache of that name while the tests run, because many of them compile the same
// runtime: `ccache c++ ... -c x.cc -o x.o` compiles every text once.
//
// An object is made of the preprocessed text, the compiler and the options that the key of the cache is a digest of, and of
// nothing else: no object can be stale. One exception: nobody notices an edit of a header that is included only behind a
// pragma that defines macros. Whatever is not the plain compilation of one unit, or does not succeed in silence, is left to
// the compiler itself. As with the real ccache, $CCACHE_DIR is the cache's folder, and $CCACHE_DISABLE turns the cache off.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: ccache compiler [options...]")
		os.Exit(2)
	}
	words, dir := os.Args[1:], os.Getenv("CCACHE_DIR")
	// PyTorch calls "ccache", "ccache c++", ... where CXX is "ccache c++".
	if compiler, again := strings.CutPrefix(words[0], "ccache "); again {
		words[0] = compiler
	}
	if u, ok := parse(words); ok && dir != "" && os.Getenv("CCACHE_DISABLE") == "" && u.compile(dir) == nil {
		return
	}
	program, err := exec.LookPath(words[0])
	if err == nil {
		err = syscall.Exec(program, words, os.Environ())
	}
	fmt.Fprintln(os.Stderr, "ccache:", err)
	os.Exit(1)
}
