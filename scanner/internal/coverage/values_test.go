package coverage

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestValuesBeyondTheBound: a value that was not compared with all others is not called unique until the next full
// sweep.
func TestValuesBeyondTheBound(t *testing.T) {
	value := func(key, text string) *keyreader.Value {
		return &keyreader.Value{Key: key, Type: keyreader.String, Head: text, Size: int64(len(text))}
	}
	finding := func(v *keyreader.Value) *registry.Entry {
		return &registry.Entry{Finding: report.Finding{Key: v.Key}, Facts: registry.Facts{Identity: v.Identity()}}
	}
	late, known := value("lock:late", "late"), value("lock:known", "known")
	fill := func(s *Values) {
		for i := range maxCompared {
			s.Note(value(fmt.Sprint("lock:", i), fmt.Sprint(i)))
		}
	}
	first := NewValues([]registry.Entry{*finding(known)}, nil)
	fill(first)
	first.Note(known)
	first.Note(late)
	if err := first.unique(finding(late)); !errors.Is(err, repair.ErrIncomplete) {
		t.Errorf("beyond the bound: %v", err)
	}
	if err := first.unique(finding(known)); err != nil {
		t.Errorf("known before: %v", err)
	}
	first.Note(value("lock:other", "known"))
	if err := first.unique(finding(known)); !errors.Is(err, repair.ErrNotRepairable) {
		t.Errorf("another key has it: %v", err)
	}
	next := NewValues([]registry.Entry{*finding(known), *finding(late)}, first)
	next.MissSome() // continues where the first one ended
	if err := next.unique(finding(late)); err != nil {
		t.Errorf("known when the sweep began: %v", err)
	}
	if err := next.unique(finding(known)); !errors.Is(err, repair.ErrNotRepairable) {
		t.Errorf("another key had it: %v", err)
	}
	if err := next.unique(finding(value("lock:new", "new"))); !errors.Is(err, repair.ErrIncomplete) {
		t.Errorf("found by a sweep that read a part: %v", err)
	}
}
