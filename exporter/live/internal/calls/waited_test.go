package calls

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
)

func behind(instance string) func() (*lock.HeldError, error) {
	return func() (*lock.HeldError, error) {
		return &lock.HeldError{Holder: lock.Holder{Instance: instance}}, nil
	}
}

// TestWaitsWithoutEnd: whatever a Locker does after it has begun a wait, the wait is over with the call.
func TestWaitsWithoutEnd(t *testing.T) {
	for name, end := range map[string]func(*Lease){
		"panic":  func(m *Lease) { m.Abandoned() },
		"failed": func(m *Lease) { m.Failed(lock.ErrMaxWait, nil) },
		"a second wait": func(m *Lease) {
			m.WaitStart(locktrace.WaitStart{Kind: locktrace.WaitLocal, Front: behind("b/2")})
			m.Failed(lock.ErrMaxWait, nil)
		},
		"an end too many": func(m *Lease) {
			m.WaitEnd(locktrace.WaitEnd{WaitStart: locktrace.WaitStart{Kind: locktrace.WaitLocal}})
			m.WaitEnd(locktrace.WaitEnd{WaitStart: locktrace.WaitStart{Kind: locktrace.WaitLocal}})
			m.Failed(lock.ErrMaxWait, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := NewRegister(waits.New(time.Minute), timeline.NewSlowest(1), profile.New(1), 32)
				owner := &Owner{Layer: decorate.NewLayer(&locktrace.Trace{}), Records: &r.Records}
				m := r.Begin(t.Context(), owner, "job")
				m.WaitStart(locktrace.WaitStart{Kind: locktrace.WaitLocal, Front: behind("a/1")})
				time.Sleep(time.Second)
				end(m)
				time.Sleep(time.Minute)
				if left := r.UnderWay(time.Now()); len(left) != 0 {
					t.Errorf("under way %+v", left)
				}
				got := r.Profile.MostInflicted(time.Now())
				if len(got) != 1 || got[0].Holder != "a/1" || got[0].Seconds != 1 || got[0].Waits != 1 {
					t.Errorf("inflicted %+v", got)
				}
				for i := range r.shards {
					if n := len(r.shards[i].lines); n > 0 {
						t.Errorf("%d lines are left", n)
					}
				}
			})
		})
	}
}

// TestStackOfAShortWait is left for the return of the call while waits for its resource are short, and not longer.
func TestStackOfAShortWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRegister(waits.New(time.Minute), timeline.NewSlowest(1), profile.New(time.Second), 32)
		owner := &Owner{Layer: decorate.NewLayer(&locktrace.Trace{}), Records: &r.Records}
		begin := func(resource string) *Lease {
			m := r.Begin(t.Context(), owner, resource)
			m.WaitStart(locktrace.WaitStart{Kind: locktrace.WaitBackingOff})
			return m
		}
		first := begin("job")
		time.Sleep(time.Millisecond)
		first.Failed(lock.ErrMaxWait, nil)
		second, other := begin("job"), begin("another")
		time.Sleep(recently)
		late := begin("job")
		if first.waited != nil || second.waited.stack != nil || other.waited.stack == nil || late.waited.stack == nil {
			t.Errorf("stacks %v, %v, %v", second.waited.stack, other.waited.stack, late.waited.stack)
		}
		time.Sleep(time.Second)
		if second.WaitStart(locktrace.WaitStart{Kind: locktrace.WaitBackingOff}); second.waited.stack == nil {
			t.Error("a long wait has no stack")
		}
		for _, m := range []*Lease{second, other, late} {
			m.Failed(lock.ErrMaxWait, nil)
		}
	})
}

// TestFrontThatPanics is an error of a driver that does. The time has an unknown class.
func TestFrontThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newLine(text.ID{}, &Owner{Records: &Records{Profile: profile.New(1)}})
		line.Join(time.Now(), func() (*lock.HeldError, error) { panic("driver") })
		time.Sleep(time.Second)
		line.Leave(time.Now())
		if got := line.spent; len(got) != 1 || got[0].Class != profile.Unknown || got[0].Took != time.Second {
			t.Errorf("spent %+v", got)
		}
	})
}
