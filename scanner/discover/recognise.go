package discover

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// clue is why a key is taken for a library's lock.
type clue struct {
	library    Library
	pattern    string // empty: it is made of the names of the keys
	confidence inspect.Confidence
	evidence   string
	since      time.Time // when the lock was taken, if it cannot have been renewed and the value tells; else zero
	Traits
}

// entry is a key with what surrounds it.
type entry struct {
	*keyreader.Value
	beside string // kind of its helper keys: see helpers
	hold   inspect.Hold
}

// recognise returns the clue of the first row that matches.
func recognise(e *entry) (clue, bool) {
	_, c, ok := rowOf(e)
	return c, ok
}

// rowOf returns the first row that matches, with its clue.
func rowOf(e *entry) (*row, clue, bool) {
	e.hold = holders.Holder(e.Value)
	for i := range rows {
		r := &rows[i]
		if !r.matches(e) {
			continue
		}
		if r.library == notLocks {
			break
		}
		if c := r.clue(e); c.confidence > inspect.Low || !namesOther(e.Key) {
			return r, c, true
		}
	}
	return nil, clue{}, false
}

func (r *row) matches(e *entry) bool {
	switch {
	case e.Type != r.kind, r.format != "" && e.hold.Format != r.format, r.beside != "" && e.beside != r.beside,
		r.size > 0 && e.Size != r.size, r.key != nil && !r.key.MatchString(e.Key):
		return false
	case r.format == "" && e.Type == keyreader.String && e.Size > keyreader.HeadSize: // it was not read completely
		return false
	}
	misses := func(all *regexp.Regexp) bool { return !all.MatchString(e.Head) }
	return !slices.ContainsFunc(r.values, misses) && r.suits(e.Fields) &&
		!slices.ContainsFunc(r.conditions, func(holds condition) bool { return !holds(e) })
}

// suits reports whether the fields of a hash are those of the row.
func (r *row) suits(fields [][2]string) bool {
	there := r.field == ""
	for _, f := range fields {
		if r.fields != nil && !r.fields.MatchString(f[0]) {
			return false
		}
		there = there || f[0] == r.field && r.fieldValue.MatchString(f[1])
	}
	return there
}

func (r *row) clue(e *entry) clue {
	c := clue{library: r.library, confidence: r.sure, evidence: r.evidence, Traits: r.Traits}
	if r.HeldForTTL {
		c.since = e.hold.Since
	}
	switch {
	case r.byName && namesLock(e.Key):
		c.evidence += ", and the name suggests a lock"
	case r.byName:
		c.confidence = inspect.Low
	}
	if r.key == nil {
		return c
	}
	prefix := ""
	if groups := r.key.FindStringSubmatch(e.Key); len(groups) > 1 {
		prefix = groups[1]
	}
	switch {
	case r.pattern != "":
		c.pattern = strings.Replace(r.pattern, "$1", whole(prefix), 1)
	case prefix == e.Key:
		c.pattern = whole(prefix)
	case prefix != "":
		c.pattern = scanner.PrefixPattern(prefix)
	}
	return c
}

// whole returns the pattern that matches one key.
func whole(key string) string { return strings.TrimSuffix(scanner.PrefixPattern(key), "*") }

// condition is what a row asks of a key besides its form.
type condition func(e *entry) bool

// conditions are those of the field if. Most libraries write no token without a TTL, and most other random values have
// none.
var conditions = map[string]condition{
	"ttl":              func(e *entry) bool { return e.TTL != keyreader.Never },
	"no ttl":           func(e *entry) bool { return e.TTL == keyreader.Never },
	"lock name":        func(e *entry) bool { return namesLock(e.Key) },
	"ttl or lock name": func(e *entry) bool { return e.TTL != keyreader.Never || namesLock(e.Key) },
}
