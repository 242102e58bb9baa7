package netfault_test

import "testing"

// TestReplay repeats an INCR twice on behalf of a client that sent it once.
func TestReplay(t *testing.T) {
	proxy, _, via, direct := setup(t)
	if n, err := proxy.Replay(t.Context(), 1); n != 0 || err != nil {
		t.Errorf("replayed %d, %v before anything was recorded", n, err)
	}
	must(t, via.Incr(t.Context(), "before").Err())
	proxy.Record(true)
	must(t, via.Incr(t.Context(), "key").Err())
	for range 2 {
		if n, err := proxy.Replay(t.Context(), 5); n != 1 || err != nil {
			t.Fatalf("replayed %d, %v; want the one batch since Record", n, err)
		}
	}
	eventually(t, "both are executed", func() bool { return direct.Get(t.Context(), "key").Val() == "3" })
	wantValue(t, direct, "before", "1")
	proxy.Record(false)
	if n, err := proxy.Replay(t.Context(), 5); n != 0 || err != nil {
		t.Errorf("replayed %d, %v after recording has ended", n, err)
	}
}

// TestReplayKeepsBatches records a pipeline as one batch.
func TestReplayKeepsBatches(t *testing.T) {
	proxy, _, via, direct := setup(t)
	must(t, via.Ping(t.Context()).Err())
	proxy.Record(true)
	pipe := via.Pipeline()
	pipe.Incr(t.Context(), "a")
	pipe.Incr(t.Context(), "b")
	_, err := pipe.Exec(t.Context())
	must(t, err)
	if n, err := proxy.Replay(t.Context(), 1); n != 1 || err != nil {
		t.Fatalf("replayed %d batches, %v; want the pipeline", n, err)
	}
	eventually(t, "it is executed", func() bool { return direct.Get(t.Context(), "b").Val() == "2" })
	wantValue(t, direct, "a", "2")
}

// TestHoldOne lets a second connection overtake the first.
func TestHoldOne(t *testing.T) {
	proxy, _, via, direct := setup(t)
	if proxy.HoldOne() {
		t.Error("a connection is held, and there is none")
	}
	other := client(t, proxy.Addr())
	must(t, other.Ping(t.Context()).Err())
	must(t, via.Ping(t.Context()).Err())
	if !proxy.HoldOne() {
		t.Fatal("no connection is held")
	}
	wantTimeout(t, via.Set(within(t, soon), "key", "first", 0).Err())
	must(t, other.Set(t.Context(), "key", "second", 0).Err())
	wantValue(t, direct, "key", "second")
	proxy.Flow()
	eventually(t, "what was held arrives", func() bool { return direct.Get(t.Context(), "key").Val() == "first" })
}
