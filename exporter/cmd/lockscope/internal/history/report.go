package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/exporter/internal/timespan"
	"github.com/lockscope/lockscope/exporter/live/state"
)

var errNoHistory = errors.New("its process has no history: it runs an older version, or nothing but a scanner")

// report is what all processes say together, as JSON: schema 1.
type report struct {
	Schema       int                   `json:"schema"`
	At           time.Time             `json:"at"`
	From         time.Time             `json:"from"`
	To           time.Time             `json:"to"`
	CompleteFrom time.Time             `json:"complete_from"` // of the page that has the least
	Waited       int                   `json:"waited_seconds"`
	Bucket       int                   `json:"bucket_seconds"`
	Buckets      int                   `json:"buckets"`
	Classes      []state.WaitedClass   `json:"classes"`
	Blockers     []blocker             `json:"blockers"`
	Resources    []state.PastResource  `json:"resources"`
	Omitted      state.OmittedFromPast `json:"omitted"` // by pages; the same row may be left out by several
	Pages        []readPage            `json:"pages"`
	PagesOmitted int                   `json:"pages_omitted,omitempty"`
	Unfound      string                `json:"pages_unknown,omitempty"` // why servers could not be asked for pages

	all []state.WaitHistory
}

// blocker is a holder that calls waited for.
type blocker struct {
	state.PastBlocker
	// Process is what other calls of its process waited for at the same time. One of them may be the holder's own
	// call: of a holder in another process, waiters do not know what it waits for.
	Process []state.WaitedPart `json:"process_waits_for,omitempty"`
}

// readPage is the result of reading a page.
type readPage struct {
	Page         string     `json:"page"`
	Instance     string     `json:"instance,omitempty"`
	Waited       int        `json:"waited_seconds"`
	CompleteFrom *time.Time `json:"complete_from,omitempty"`
	Error        string     `json:"error,omitempty"`
}

func newReport(s timespan.Span) *report {
	return &report{
		Schema: output.SchemaVersion, At: time.Now().UTC().Truncate(time.Second), From: s.From.UTC(), To: s.To.UTC(),
		Classes: []state.WaitedClass{}, Blockers: []blocker{}, Resources: []state.PastResource{},
		Pages: []readPage{},
	}
}

// add reads pages that were not read yet.
func (r *report) add(ctx context.Context, p fleet.Policy, pages []string) {
	pages = slices.DeleteFunc(slices.Clone(pages), func(page string) bool {
		return slices.ContainsFunc(r.Pages, func(known readPage) bool { return known.Page == page })
	})
	views, omitted := fleet.ReadViews(ctx, p, pages, "history", url.Values{
		"format": {"json"}, "from": {r.From.Format(time.RFC3339)}, "to": {r.To.Format(time.RFC3339)},
	})
	r.PagesOmitted += omitted
	for _, v := range views {
		r.addPage(v)
	}
}

func (r *report) addPage(v fleet.View) {
	page := readPage{Page: v.Page}
	d, err := r.decode(v)
	if err != nil {
		page.Error = err.Error()
	} else {
		page.Instance, page.Waited, page.CompleteFrom = d.Instance, d.Waited, &d.CompleteFrom
		if other, again := r.same(d); again {
			page.Waited, page.Error = 0, "the same process as "+other+": counted once"
		} else {
			r.all = append(r.all, *d)
		}
	}
	r.Pages = append(r.Pages, page)
}

// same finds a page that is of the same process: with the same waits of the same instance.
func (r *report) same(d *state.WaitHistory) (page string, ok bool) {
	for _, p := range r.Pages {
		if p.Instance != d.Instance || p.Waited != d.Waited || d.Waited == 0 {
			continue
		}
		for i := range r.all {
			if r.all[i].Instance == d.Instance && reflect.DeepEqual(r.all[i].Classes, d.Classes) &&
				reflect.DeepEqual(r.all[i].Blockers, d.Blockers) {
				return p.Page, true
			}
		}
	}
	return "", false
}

// decode checks what a page says, which may be anything.
func (r *report) decode(v fleet.View) (*state.WaitHistory, error) {
	if status, ok := errors.AsType[*fleet.StatusError](v.Err); ok && status.Status == http.StatusNotFound {
		return nil, errNoHistory
	}
	if v.Err != nil {
		return nil, v.Err
	}
	var d state.WaitHistory
	if json.Unmarshal(v.Body, &d) != nil || d.Instance == "" || d.Buckets < 1 || d.Buckets > state.MaxBuckets ||
		!d.From.Equal(r.From) || !d.To.Equal(r.To) || !sound(&d) {
		return nil, fleet.ErrNoPage
	}
	if r.Buckets != 0 && (r.Buckets != d.Buckets || r.Bucket != d.Bucket) {
		return nil, fmt.Errorf("it divides the span into parts of %d s: its process runs another version", d.Bucket)
	}
	r.Bucket, r.Buckets = d.Bucket, d.Buckets
	return &d, nil
}

// read is how many pages were read.
func (r *report) read() (n int) {
	for _, p := range r.Pages {
		if p.CompleteFrom != nil {
			n++
		}
	}
	return n
}

// complete reports whether every page was read and has the whole span.
func (r *report) complete() bool {
	return r.PagesOmitted == 0 && r.Unfound == "" && !slices.ContainsFunc(r.Pages, func(p readPage) bool {
		return p.CompleteFrom == nil || p.CompleteFrom.After(r.From)
	})
}
