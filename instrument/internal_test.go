package instrument

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

type never struct{ lock.Locker }

// TestNoSpanHooks: without tracing, spans cost nothing.
func TestNoSpanHooks(t *testing.T) {
	for name, c := range map[string]struct {
		opts  []Option
		spans bool
	}{
		"off":           {[]Option{WithTracerProvider(noop.NewTracerProvider())}, false},
		"no node spans": {[]Option{WithNodeSpans(NodeSpansNone)}, false},
		"default":       {nil, true},
	} {
		l, err := Wrap(never{}, c.opts...)
		if err != nil {
			t.Fatal(err)
		}
		if has := (hooks{l.observers}).trace().NodeStart != nil; has != c.spans {
			t.Errorf("%s: NodeStart is installed: %v", name, has)
		}
	}
}

// TestRestartsThatAreOver: a restart detected after its quarantine is no danger.
func TestRestartsThatAreOver(t *testing.T) {
	var b bytes.Buffer
	l, err := Wrap(never{}, WithLogger(slog.New(slog.NewTextHandler(&b, nil))))
	if err != nil {
		t.Fatal(err)
	}
	hooks{l.observers}.trace().NodeRestart(t.Context(), locktrace.NodeRestart{Node: "a", Witnessed: true})
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(),
		`level=WARN msg="node restarted and votes: no earlier lock can still be held" node=a left=0s enforced=false`) {
		t.Error(b.String())
	}
}
