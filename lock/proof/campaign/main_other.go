//go:build !linux

package main

import (
	"fmt"
	"os"
)

// main says why there is nothing: the nodes' clocks, a full disk and a clock that all
// processes share are made with what Linux has.
func main() {
	fmt.Fprintln(os.Stderr, "campaign: it runs on Linux only")
	os.Exit(1)
}
