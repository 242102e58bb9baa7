package timeline

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
)

func nobodyHere(string) bool { return false }

func id(i int) text.ID { return text.ID{Backend: "redis", Resource: fmt.Sprintf("order:%d", i)} }

func inBubble(t *testing.T, test func(t *testing.T)) { synctest.Test(t, test) }

// TestRoomForTheContended: a place becomes free when nobody has waited for a while, and not before.
func TestRoomForTheContended(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := New(3, nobodyHere)
		if !r.Empty() || r.Find(id(0), time.Now()) != nil {
			t.Fatal("it begins with something")
		}
		for i := range 3 {
			r.Contend(id(i), time.Now())
			time.Sleep(time.Second)
		}
		r.Contend(id(3), time.Now())
		if r.Find(id(3), time.Now()) != nil || r.Find(id(0), time.Now()) == nil {
			t.Error("a newcomer takes a place that is in use")
		}
		for range 10 { // somebody goes on to wait for all but the second
			time.Sleep(time.Second)
			r.Contend(id(0), time.Now())
			r.Contend(id(2), time.Now())
		}
		r.Contend(id(3), time.Now())
		if r.Find(id(3), time.Now()) == nil || r.Find(id(1), time.Now()) != nil {
			t.Errorf("recorded: %v", r.Recorded(time.Now()))
		}
	})
}

// TestRecordedUntilTenMinutesAfterTheLastWait: then the resource is as unknown as before.
func TestRecordedUntilTenMinutesAfterTheLastWait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := New(3, nobodyHere)
		r.Contend(id(1), time.Now())
		time.Sleep(For / 2)
		r.Contend(id(2), time.Now())
		time.Sleep(For / 2)
		if all := r.Recorded(time.Now()); len(all) != 1 || all[0] != id(2) {
			t.Errorf("recorded: %v", all)
		}
		time.Sleep(For / 2)
		if r.Find(id(2), time.Now()) != nil {
			t.Error("it is recorded for longer")
		}
		if all := r.Recorded(time.Now()); len(all) != 0 || !r.Empty() {
			t.Errorf("recorded: %v", all)
		}
	})
}

func TestNothingIsRecordedWithoutPlaces(t *testing.T) {
	r := New(0, nobodyHere)
	r.Contend(id(1), time.Now())
	if !r.Empty() {
		t.Error("it records")
	}
}

// TestLatestEventsAreKept, of the last ten minutes and at most as many as asked for.
func TestLatestEventsAreKept(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := New(1, nobodyHere)
		r.Contend(id(1), time.Now())
		track, of := r.Find(id(1), time.Now()), &Caller{Instance: "orders/1"}
		for i := range MaxEvents + 100 {
			track.AddLease(of, time.Now(), time.Now().Add(time.Millisecond), uint64(i), nil)
			time.Sleep(time.Millisecond)
		}
		events, omitted := track.Copy(time.Now().Add(-For), MaxEvents)
		if len(events) != MaxEvents || omitted != 100 || events[0].Fence != 100 ||
			events[MaxEvents-1].Fence != MaxEvents+99 {
			t.Errorf("%d events, %d omitted, the first is %+v", len(events), omitted, events[0])
		}
		events, omitted = track.Copy(time.Now().Add(-For), 10)
		if len(events) != 10 || omitted != MaxEvents+90 || events[0].Fence != MaxEvents+90 {
			t.Errorf("of ten: %d events, %d omitted, the first is %+v", len(events), omitted, events[0])
		}
		time.Sleep(For - 50*time.Millisecond)
		if events, _ = track.Copy(time.Now().Add(-For), MaxEvents); len(events) != 51 {
			t.Errorf("%d events are younger than ten minutes", len(events))
		}
	})
}

func TestLatestRestartsAreKept(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := New(1, nobodyHere)
		for i := range maxRestarts + 1 {
			r.Restarted(time.Now(), Restart{Backend: "redis", Node: fmt.Sprint(i)})
			r.Restarted(time.Now(), Restart{Backend: "other", Node: "x"})
			time.Sleep(time.Second)
		}
		all := r.Restarts("redis", time.Now().Add(-10*time.Second))
		if len(all) != 10 || all[9].Node != fmt.Sprint(maxRestarts) {
			t.Errorf("%+v", all)
		}
		if all := r.Restarts("redis", time.Now().Add(-For)); len(all) != maxRestarts/2 {
			t.Errorf("%d restarts are kept", len(all))
		}
	})
}
