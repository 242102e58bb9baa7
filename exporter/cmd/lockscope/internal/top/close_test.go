package top

import (
	"context"
	"sync"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
)

// instant is a set of nodes that answers at once.
type instant struct{ closed bool }

func (*instant) first() answer               { return answer{} }
func (*instant) read(context.Context) answer { return answer{} }
func (*instant) suggest(resources []string)  {}
func (i *instant) close()                    { i.closed = true }

// TestCloseWhileItReads: the screen ends with a key while a refresh begins. That refresh reads nothing any more.
func TestCloseWhileItReads(t *testing.T) {
	p, err := newPages(nil, fleet.Policy{})
	cmdtest.Must(t, err)
	for range 2000 {
		one := &instant{}
		s := newSource([]system{one}, p)
		var reading sync.WaitGroup
		for range 2 {
			reading.Go(func() {
				for range 5 {
					s.Read(context.Background())
				}
			})
		}
		s.Close()
		reading.Wait()
		if !one.closed {
			t.Fatal("the nodes are not closed")
		}
	}
}
