package lock

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	maxInstanceLength    = 128
	maxTraceparentLength = 64
	maxCallSiteLength    = 128
	maxPageLength        = 256
)

// Holder is what a lock's value says about the process that wrote it.
type Holder struct {
	Instance    string    // host/pid, or the name given with [WithInstance]
	Since       time.Time // when the attempt began, by the holder's clock, to the millisecond
	Traceparent string    // W3C trace context of the acquiring call; empty if none
	CallSite    string    // folder/file.go:line of that call; empty without [WithCallSites]
	Page        string    // where the process shows its locks; empty without [WithPage]
}

// append adds the form in which a Holder travels, with a name for what it holds:
// instance|since in ms|traceparent|name, and |call site|page where one of them is known.
func (h Holder) append(b []byte, name string) []byte {
	b = append(append(h.appendFirst(b), '|'), name...)
	if h.CallSite != "" || h.Page != "" {
		b = h.appendRest(append(b, '|'))
	}
	return b
}

func (h Holder) appendFirst(b []byte) []byte {
	b = append(b, safeText(h.Instance, maxInstanceLength)...)
	b = append(b, '|')
	b = strconv.AppendInt(b, h.Since.UnixMilli(), 10)
	b = append(b, '|')
	return append(b, safeText(h.Traceparent, maxTraceparentLength)...)
}

func (h Holder) appendRest(b []byte) []byte {
	b = append(b, safeText(h.CallSite, maxCallSiteLength)...)
	return append(append(b, '|'), safeText(h.Page, maxPageLength)...)
}

// ParseHolder reads the holder part of a lock value. Further fields, which a
// later version may add, are ignored.
func ParseHolder(record string) (Holder, error) {
	fields := strings.SplitN(record, "|", 7)
	if len(fields) < 3 {
		return Holder{}, fmt.Errorf("lock: holder record has %d fields, at least 3 expected", len(fields))
	}
	ms, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return Holder{}, fmt.Errorf("lock: holder record's time is not a number of milliseconds")
	}
	h := Holder{
		Instance:    safeText(fields[0], maxInstanceLength),
		Since:       time.UnixMilli(ms),
		Traceparent: safeText(fields[2], maxTraceparentLength),
	}
	if len(fields) > 5 { // the fourth is the name of the attempt, or how many wait
		h.CallSite, h.Page = safeText(fields[4], maxCallSiteLength), safeText(fields[5], maxPageLength)
	}
	return h, nil
}

// validPage refuses what nobody could open, and a URL with credentials: others read it.
func validPage(page string) bool {
	if page == "" {
		return true
	}
	u, err := url.Parse(page)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && len(page) <= maxPageLength
}

// defaultInstance names this process as people look for it: host and pid.
func defaultInstance() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return host + "/" + strconv.Itoa(os.Getpid())
}

type traceparentKey struct{}

// WithTraceparent returns a context whose acquisitions write the given W3C
// traceparent into the lock, so that whoever is refused can link to this trace.
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, traceparentKey{}, traceparent)
}

func traceparentOf(ctx context.Context) string {
	s, _ := ctx.Value(traceparentKey{}).(string)
	return s
}
