package live_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/internal/traceevent/validate"
	"github.com/lockscope/lockscope/exporter/live"
)

// traced is a valid trace with what a test asks of it.
type traced struct {
	validate.File
	data    []byte
	process map[int]string
	thread  map[int]string
}

// traceOf writes a trace and checks it against the format.
func traceOf(t testing.TB, b *live.Board, resource, backend string) *traced {
	t.Helper()
	var out bytes.Buffer
	must(t, b.WriteTrace(context.Background(), &out, resource, backend))
	file, errs := validate.Read(out.Bytes())
	for _, err := range errs {
		t.Error(err)
	}
	tr := &traced{file, out.Bytes(), make(map[int]string), make(map[int]string)}
	for _, e := range file.Events {
		switch e.Name {
		case "process_name":
			tr.process[e.Pid], _ = e.Args["name"].(string)
		case "thread_name":
			tr.thread[e.Tid], _ = e.Args["name"].(string)
		}
	}
	return tr
}

// of returns the events of a category whose name has that beginning, in order.
func (tr *traced) of(cat, name string) (found []validate.Event) {
	for _, e := range tr.Events {
		if e.Cat == cat && strings.HasPrefix(e.Name, name) {
			found = append(found, e)
		}
	}
	return found
}

// arrow is a flow by the names of the processes at both of its ends.
type arrow struct{ from, to, how string }

func (tr *traced) arrows() (all []arrow) {
	byID := make(map[string]*arrow)
	for _, e := range tr.of("lets in", "") {
		switch e.Phase {
		case "s":
			how, _ := e.Args["how"].(string)
			byID[e.ID] = &arrow{from: tr.process[e.Pid], how: how}
		case "f":
			a := byID[e.ID]
			a.to = tr.process[e.Pid]
			all = append(all, *a)
		}
	}
	return all
}

// arg is an argument of an event.
func arg(e validate.Event, key string) string {
	s, _ := e.Args[key].(string)
	return s
}
