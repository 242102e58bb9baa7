package views

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/lockscope/lockscope/exporter/live"
)

// tracer writes what happened to contended resources as a trace. See live.Board.WriteTrace.
type tracer interface {
	WriteTrace(ctx context.Context, w io.Writer, resource, backend string) error
}

// traceView serves timelines as files that Perfetto and chrome://tracing open.
type traceView struct{ source tracer }

func newTrace(source any) (View, bool) {
	t, ok := source.(tracer)
	return View{Name: "trace", Handler: traceView{t}}, ok
}

// ServeHTTP answers GET and HEAD. The parameters resource and backend choose; without them, all timelines are in one
// file.
func (v traceView) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	if !readOnly(w, r) {
		return
	}
	resource := r.FormValue("resource")
	out := &traceFile{to: w, name: traceFileName(resource)}
	err := v.source.WriteTrace(r.Context(), out, resource, r.FormValue("backend"))
	missing, isMissing := errors.AsType[*live.NotRecordedError](err)
	switch {
	case err == nil, out.begun: // an error now means that the client has left
	case isMissing:
		writeJSON(w, http.StatusNotFound, noTrace{missing.Error(), missing.Recorded, missing.More})
	default:
		fail(w, http.StatusInternalServerError, err.Error())
	}
}

// noTrace is the answer if nothing is recorded.
type noTrace struct {
	Error    string          `json:"error"`
	Recorded []live.Recorded `json:"recorded,omitempty"`
	More     int             `json:"recorded_omitted,omitempty"`
}

// traceFile sets the headers of a trace with its first bytes, since an error may come instead of them.
type traceFile struct {
	to    http.ResponseWriter
	name  string
	begun bool
}

func (f *traceFile) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if !f.begun {
		f.begun = true
		h := f.to.Header()
		h.Set("Content-Type", "application/json; charset=utf-8")
		h.Set("Content-Disposition", `attachment; filename="`+f.name+`"`)
	}
	return f.to.Write(b)
}

// traceFileName names the resource if its name is safe in a header and on a disk, apart from a few characters.
func traceFileName(resource string) string {
	const longest = 64
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		default:
			return '_'
		}
	}, resource)
	if safe = safe[:min(len(safe), longest)]; safe == "" {
		safe = "all"
	}
	return "lockscope-trace-" + safe + ".json"
}
