// Command release writes a module proxy of the tree, from which make dist installs the binary. release.sh has the steps of a release.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	root := flag.String("root", filepath.Join("..", ".."), "the root of the repository")
	version := flag.String("version", "", "the version that the proxy has, as v0.2.0")
	proxy := flag.String("proxy", "", "the folder to write to; GOPROXY takes its file:// URL")
	flag.Parse()
	all, err := modules(*root)
	if err == nil {
		err = writeProxy(all, *proxy, *version, time.Now())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}
