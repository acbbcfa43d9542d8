// Command testsum reads the output of `go test -json`, shows how it goes and ends with one line that counts tests, the
// specs of Ginkgo suites among them. It fails if a test failed or none ran.
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	if err := run(os.Stdin, os.Stdout, time.Tick(30*time.Second)); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
}
