package views

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
)

// ErrDraining is the cause with which the exporter ends the contexts of requests before the server shuts down.
var ErrDraining = errors.New("the process is shutting down")

// maxProfile is the longest time between two profiles whose difference a request asks for.
const maxProfile = 5 * time.Minute

// profiler is a source with a profile.
type profiler interface {
	Profile(by live.ProfileBy) (*live.Profile, error)
}

type profileView struct{ of profiler }

func newProfile(source any) (View, bool) {
	p, ok := source.(profiler)
	return View{"profile", profileView{p}}, ok
}

// ServeHTTP answers with a profile since the start, or of the seconds to come. One that the exporter ends early is
// shorter, and says how long it is.
func (v profileView) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	if !readOnly(w, r) {
		return
	}
	by, over, err := profileParameters(r.URL.Query())
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if r.Method == http.MethodHead {
		over = 0
	}
	p, err := v.profile(r.Context(), by, over)
	switch {
	case errors.Is(err, live.ErrProfileOff):
		fail(w, http.StatusNotFound, err.Error())
	case err != nil:
		fail(w, http.StatusInternalServerError, err.Error())
	default:
		sendProfile(w, "locks-"+string(by)+".pb.gz", encodable(p))
	}
}

// sendProfile answers with a profile as a file.
func sendProfile(w http.ResponseWriter, name string, p waitProfile) {
	var body bytes.Buffer
	if err := p.write(&body); err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	_, _ = body.WriteTo(w) // net/http drops it for HEAD; an error means that the client has left
}

// profile returns the profile since the start, or of the time to come. It ends early if ctx does.
func (v profileView) profile(ctx context.Context, by live.ProfileBy, over time.Duration) (*live.Profile, error) {
	first, err := v.of.Profile(by)
	if err != nil || over == 0 {
		return first, err
	}
	timer := time.NewTimer(over)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		if err := context.Cause(ctx); !errors.Is(err, ErrDraining) {
			return nil, err // the client has left
		}
	}
	last, err := v.of.Profile(by)
	if err != nil {
		return nil, err
	}
	return last.Since(first), nil
}

func profileParameters(query url.Values) (by live.ProfileBy, over time.Duration, err error) {
	switch by = live.ProfileBy(query.Get("by")); by {
	case "":
		by = live.ByWaiter
	case live.ByWaiter, live.ByHolder:
	default:
		return "", 0, fmt.Errorf("by=%q: use waiter or holder", by)
	}
	text := query.Get("seconds")
	if text == "" {
		return by, 0, nil
	}
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 1 || seconds > int(maxProfile/time.Second) {
		return "", 0, fmt.Errorf("seconds=%q: use a whole number from 1 to %d", text, maxProfile/time.Second)
	}
	return by, time.Duration(seconds) * time.Second, nil
}

// encodable prepares a profile for pprof.
func encodable(p *live.Profile) waitProfile {
	out := waitProfile{began: p.Began(), ended: p.Ended()}
	for _, s := range p.Samples() {
		out.samples = append(out.samples, sample{stack: s.Stack, count: s.Count, delay: s.Delay, labels: []label{
			{name: "resource", value: s.Resource}, {name: "backend", value: s.Backend},
			{name: "class", value: string(s.Class)}, {name: "holder", value: s.Holder},
		}})
	}
	return out
}
