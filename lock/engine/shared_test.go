package engine_test

import (
	"errors"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// modeless is a node of a driver that knows no readers.
type modeless struct{ driver.BlockingNode }

func (modeless) Capabilities() driver.Capabilities { return driver.Capabilities{} }

func TestReadersNeedADriverThatKnowsThem(t *testing.T) {
	var nodes []driver.Node
	for _, name := range []string{"a", "b", "c"} {
		server := locktest.NewFakeServer(name)
		defer server.Close()
		node := driver.BlockingNode(server.Connect(1, locktest.Faults{}))
		if name == "b" {
			node = modeless{node}
		}
		nodes = append(nodes, engine.Async(node))
	}
	e, err := engine.NewEngine(nodes)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if c := e.Capabilities(); c != (driver.Capabilities{}) {
		t.Errorf("all nodes together can %+v", c)
	}
	for _, kind := range []lock.Kind{lock.KindRead, lock.KindWrite} {
		_, err := e.Acquire(t.Context(), "prices", locktest.AsConstruct(kind, 0), lock.NoWait())
		if !errors.Is(err, errors.ErrUnsupported) || lock.ReasonOf(err) != lock.ReasonInvalid {
			t.Errorf("%s: %v (%s)", kind, err, lock.ReasonOf(err))
		}
	}
}
