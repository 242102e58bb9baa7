package nodes

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sets lists the kinds of nodes that this machine can run. Embedded ones always run.
func sets(t *testing.T) map[string]*Set {
	t.Helper()
	both := make(map[string]*Set)
	var err error
	if both["embedded"], err = startEmbedded(1); err != nil {
		t.Fatal(err)
	}
	if both["started"], err = Start(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for _, s := range both {
		t.Cleanup(func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	return both
}

func TestPausedNodeHangsAndThenAnswers(t *testing.T) {
	for kind, set := range sets(t) {
		t.Run(kind, func(t *testing.T) {
			node := set.Nodes()[0]
			client := redis.NewClient(&redis.Options{Addr: node.Addr(), MaxRetries: -1, ContextTimeoutEnabled: true})
			defer client.Close()
			if err := node.Pause(); err != nil {
				t.Fatal(err)
			}
			brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			var timeout net.Error
			if err := client.Set(brief, "k", "v", 0).Err(); !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Fatalf("a paused node answered: %v", err)
			}
			if err := node.Resume(); err != nil {
				t.Fatal(err)
			}
			if err := client.Ping(t.Context()).Err(); err != nil {
				t.Fatalf("after Resume: %v", err)
			}
		})
	}
}

func TestPausedNodeStops(t *testing.T) {
	for kind, set := range sets(t) {
		t.Run(kind, func(t *testing.T) {
			if err := set.Nodes()[0].Pause(); err != nil {
				t.Fatal(err)
			}
			if err := set.Stop(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestStopWhileItIsAsked: an embedded node that stops answers its last requests or cuts them off.
func TestStopWhileItIsAsked(t *testing.T) {
	for range 20 {
		set, err := startEmbedded(1)
		if err != nil {
			t.Fatal(err)
		}
		client := redis.NewClient(&redis.Options{Addr: set.Nodes()[0].Addr(), MaxRetries: -1})
		asked, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			for n := 0; client.Info(t.Context()).Err() == nil; n++ {
				if n == 10 {
					close(asked)
				}
			}
		}()
		<-asked
		if err := set.Stop(); err != nil {
			t.Error(err)
		}
		<-ended
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
}
