package servers

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// slow is an inspector whose look takes as long as the test says.
type slow struct {
	Other
	takes time.Duration
}

func (s *slow) System() string  { return "etcd" }
func (s *slow) Address() string { return "etcd-1:2379" }
func (s *slow) Close()          {}

func (s *slow) Leaks(context.Context, *inspect.Rules) (l inspect.Look, err error) {
	time.Sleep(s.takes)
	return l, nil
}

// TestALongLookIsTold again and again, and a short one is not.
func TestALongLookIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &slow{takes: 9 * time.Second}
		m := func() (Other, error) { return b, nil }
		s, err := newSystem(m, m, &inspect.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		all, err := s.Scanner()
		if err != nil {
			t.Fatal(err)
		}
		defer all.Close()
		var told []time.Duration
		s.OnSlow(func(took time.Duration) { told = append(told, took) })
		for _, takes := range []time.Duration{9 * time.Second, 25 * time.Second} {
			b.takes = takes
			if _, err := all.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if want := []time.Duration{10 * time.Second, 20 * time.Second}; !slices.Equal(told, want) {
			t.Errorf("told after %v, want %v", told, want)
		}
	})
}
