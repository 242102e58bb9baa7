package nodes

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/engine/internal/enginetest"
)

func TestContentionIsForgotten(t *testing.T) {
	clock := &enginetest.Clock{}
	all := NewContention(clock.Read)
	all.Mark("lock:a", time.Second)
	if !all.Has("lock:a") || all.Has("lock:b") {
		t.Error("what is contended is not known")
	}
	clock.Now = 2 * time.Second
	if all.Has("lock:a") || len(all.until) != 0 {
		t.Error("it is remembered for too long")
	}
	for i := range 3 * maxContended {
		all.Mark(fmt.Sprint(i), time.Second)
	}
	if len(all.until) > maxContended {
		t.Errorf("%d keys are remembered", len(all.until))
	}
}
