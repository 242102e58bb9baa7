package doctor

import (
	"errors"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
)

// TestNodesThatCannotBeReachedSayWhy, in the document too: a script that reads it must not take them for examined.
func TestNodesThatCannotBeReachedSayWhy(t *testing.T) {
	refused := errors.New("connection refused")
	nodes := doctorNodes([]diagnosis.Facts{{Node: "r1:6379"}, {Node: "r2:6379", Err: refused}}, diagnosis.Policy{})
	if len(nodes) != 2 || nodes[0].Error != "" || nodes[1].Error != refused.Error() || nodes[1].Guard != "" {
		t.Errorf("%+v", nodes)
	}
}
