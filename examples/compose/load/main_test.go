package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestLoad: every target and every order is charged, the first order more often than
// the last, and the answers are counted.
func TestLoad(t *testing.T) {
	var mu sync.Mutex
	charged, at := make(map[string]int), make(map[string]int)
	ctx, cancel := context.WithCancel(t.Context())
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		charged[r.Method+" "+r.URL.Path]++
		at[r.Host]++
		if len(charged) == 3 && len(at) == 2 && charged["POST /orders/1001/charge"] > 30 {
			cancel()
		}
		if r.URL.Path == "/orders/1002/charge" {
			w.WriteHeader(http.StatusLocked)
		}
	})
	one, two := httptest.NewServer(handler), httptest.NewServer(handler)
	defer one.Close()
	defer two.Close()

	l, err := parseFlags([]string{"-targets=" + one.URL + ", " + two.URL + "/", "-orders=3", "-pause=1ms",
		"-report=1h"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	deadline := time.AfterFunc(30*time.Second, cancel)
	l.run(ctx, &out)
	mu.Lock() // a request that run has given up may still be with its server
	defer mu.Unlock()
	if !deadline.Stop() {
		t.Fatalf("half a minute was not enough: %v at %v", charged, at)
	}
	if charged["POST /orders/1001/charge"] <= charged["POST /orders/1003/charge"] {
		t.Errorf("%v: the first order is not charged more often", charged)
	}
	if !strings.Contains(out.String(), "200 OK: ") || !strings.Contains(out.String(), "423 Locked: ") {
		t.Errorf("%q", out.String())
	}
}

func TestNobodyAnswers(t *testing.T) {
	l, err := parseFlags([]string{"-targets=http://127.0.0.1:1"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	l.charge(t.Context(), l.targets[0])
	if got := l.summary(); got != "no answer: 1" {
		t.Errorf("%q", got)
	}
	if got := l.summary(); got != "no answers" {
		t.Errorf("%q: it counts from the last summary on", got)
	}
}

func TestFlags(t *testing.T) {
	for _, args := range []string{"-targets=orders-1:8080", "-targets=", "-workers=0", "-orders=0", "-pause=0s",
		"-report=-1s", "more", "-no-such-flag"} {
		if l, err := parseFlags([]string{args}, io.Discard); err == nil {
			t.Errorf("%s: %+v", args, l)
		}
	}
}
