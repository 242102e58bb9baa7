package main

import (
	"strings"

	"github.com/lockscope/lockscope/examples/demo/internal/screen"
	"github.com/lockscope/lockscope/examples/demo/internal/workload"
)

// views are lines to copy into another terminal while the demo runs. page is the
// address that serves the live page, reads are the flags of lockscope top.
func views(page string, reads []string) []string {
	live := page + "/debug/locks"
	top := append([]string{"go run ./exporter/cmd/lockscope top --page", screen.Quoted(live)}, reads...)
	return []string{
		"copy into another terminal while it runs; -for 5m leaves time to look",
		"which lines of code make others wait, over five seconds:",
		"  go tool pprof -top " + screen.Quoted(live+"/profile?by=holder&seconds=5"),
		"nodes, waits, and who blocks whom:",
		"  " + strings.Join(top, " "),
		"what happened to " + workload.Contended + ", for https://ui.perfetto.dev:",
		"  curl -o trace.json " + screen.Quoted(live+"/trace?resource="+workload.Contended) + "\n",
	}
}
