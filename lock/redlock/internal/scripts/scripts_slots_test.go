package scripts

import (
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

const keepSlots = time.Hour

// slot is slot number i of a semaphore, for a caller that believes in that many.
func slot(i, slots int) *driver.Semaphore {
	return &driver.Semaphore{Key: "lock:pool", Slot: i, Slots: slots, Keep: keepSlots}
}

// acquireSlot is like acquire, for the lock as the first of that many slots.
func (s *scripted) acquireSlot(slots int, expected string) (driver.AcquireReply, error) {
	s.t.Helper()
	req := driver.AcquireRequest{
		Key: s.keys.lock, Token: token("a"), Holder: "host|1|", TTL: scriptTTL, Semaphore: slot(0, slots),
		Waiter: driver.Waiter{ID: "w", Enqueue: true},
	}
	val, err := s.run(s.scripts.AcquireScript(&req, unheard), append(s.scripts.AcquireArgs(&req, unheard), expected))
	if err != nil {
		s.t.Fatal(err)
	}
	return parseAcquire(val)
}

func (s *scripted) extendSlot(of *driver.Semaphore, refill bool, fingerprint, expected string) (driver.ExtendReply, error) {
	s.t.Helper()
	req := driver.ExtendRequest{
		Key: s.keys.lock, Token: token("a"), Holder: "host|1|", TTL: scriptTTL, Semaphore: of, Refill: refill, Fence: 7,
	}
	val, err := s.run(s.scripts.ExtendScript(&req, unheard),
		append(s.scripts.ExtendArgs(&req, unheard), fingerprint, expected))
	if err != nil {
		return driver.ExtendGone, err
	}
	return parseExtend(val)
}

func (s *scripted) resize(from, to int, fingerprint string) (driver.ResizeReply, error) {
	s.t.Helper()
	req := driver.ResizeRequest{Key: "lock:pool", From: from, To: to, Keep: keepSlots}
	val, err := s.run(s.scripts.ResizeScript(), append(s.scripts.ResizeArgs(&req, unheard), fingerprint, ourMarker))
	if err != nil {
		return 0, err
	}
	return parseResize(val)
}

// wantKept checks the number of slots on the server, and for how much longer it is kept.
func (s *scripted) wantKept(what, slots string, least time.Duration) {
	s.t.Helper()
	key := SlotsKey("lock:pool")
	left := s.client.PTTL(s.t.Context(), key).Val()
	if got := s.get(key); got != slots || slots != "" && (left < least || left > keepSlots) {
		s.t.Errorf("%s: the server knows %q for %v, want %q for at least %v", what, got, left, slots, least)
	}
}

// TestScriptsCompareSlots: the first caller's number is kept, another's is refused without any effect, and a server that
// may not vote takes none.
func TestScriptsCompareSlots(t *testing.T) {
	s := newScripted(t)
	if _, err := s.acquireSlot(2, ourMarker); !errors.Is(err, driver.ErrQuarantined) {
		t.Fatalf("without a marker: %v", err)
	}
	s.wantKept("in quarantine", "", 0)
	s.set(guard.MarkerKey, ourMarker)
	if reply, err := s.acquireSlot(2, ourMarker); err != nil || !reply.Granted {
		t.Fatalf("%+v, %v", reply, err)
	}
	s.wantKept("the first", "2", keepSlots/2)
	s.released(driver.ReleaseRequest{Token: token("a")})
	before := s.content()
	for _, slots := range []int{1, 3, 22} {
		reply, err := s.acquireSlot(slots, ourMarker)
		if err != nil || reply.Granted || reply.Slots != 2 {
			t.Errorf("with %d slots: %+v, %v", slots, reply, err)
		}
	}
	if after := s.content(); after != before {
		t.Errorf("a refused caller changed\n%sto\n%s", before, after)
	}
	s.set(SlotsKey("lock:pool"), "many")
	if _, err := s.acquireSlot(2, ""); !errors.Is(err, driver.ErrBadReply) {
		t.Errorf("with %q slots: %v", "many", err)
	}
}

// TestScriptsKeepSlots for half of the time at least after each acquire and each renewal.
func TestScriptsKeepSlots(t *testing.T) {
	s := newScripted(t)
	key := SlotsKey("lock:pool")
	for what, use := range map[string]func() error{
		"acquire": func() error {
			_, err := s.acquireSlot(2, "")
			return err
		},
		"extend": func() error {
			_, err := s.extendSlot(slot(0, 9), true, "", "")
			return err
		},
	} {
		for left, least := range map[time.Duration]time.Duration{
			keepSlots / 3: keepSlots - time.Minute, 0: keepSlots - time.Minute, keepSlots * 2 / 3: keepSlots / 2,
		} {
			if err := s.client.Set(t.Context(), key, "2", left).Err(); err != nil {
				t.Fatal(err)
			}
			if err := use(); err != nil {
				t.Fatal(err)
			}
			s.wantKept(what, "2", least)
		}
	}
}

// TestScriptsExtendNoSlotThatIsGone, nor put one back. Every other number of slots is no matter. A server that may not
// vote takes no number.
func TestScriptsExtendNoSlotThatIsGone(t *testing.T) {
	s := newScripted(t)
	extend := func(what string, of *driver.Semaphore, marker string, want driver.ExtendReply) {
		t.Helper()
		if got, err := s.extendSlot(of, true, "ours", marker); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", what, got, err, want)
		}
	}
	extend("a server that may not vote", slot(0, 2), ourMarker, driver.ExtendGone)
	s.wantKept("in quarantine", "", 0)
	s.set(guard.MarkerKey, ourMarker)
	extend("the first", slot(0, 2), ourMarker, driver.ExtendRefilled)
	s.wantKept("the first", "2", keepSlots/2)
	extend("a larger number", slot(1, 3), ourMarker, driver.ExtendDone)
	extend("a smaller number", slot(0, 1), ourMarker, driver.ExtendDone)
	extend("a slot that is gone", slot(2, 3), ourMarker, driver.ExtendNoSlot)
	s.released(driver.ReleaseRequest{Token: token("a")})
	extend("a slot that is gone and lost", slot(2, 3), ourMarker, driver.ExtendNoSlot)
	if s.get(s.keys.lock) != "" {
		t.Error("it was put back")
	}
	s.set(guard.MarkerKey, "voting|other|run|0")
	if _, err := s.extendSlot(slot(0, 2), true, "ours", ourMarker); !errors.Is(err, driver.ErrQuarantined) {
		t.Errorf("another configuration: %v", err)
	}
}

// TestScriptsResize: only the number that is named and none are replaced, also without a marker; a server of another
// configuration refuses.
func TestScriptsResize(t *testing.T) {
	s := newScripted(t)
	for _, c := range []struct {
		known    string
		from, to int
		want     string
	}{
		{"", 2, 3, "3"}, {"2", 2, 3, "3"}, {"3", 2, 3, "3"}, {"4", 2, 3, "4"}, {"22", 2, 3, "22"}, {"2", 0, 0, "2"}, {"", 0, 0, ""},
	} {
		s.client.Del(t.Context(), SlotsKey("lock:pool"))
		if c.known != "" {
			s.client.Set(t.Context(), SlotsKey("lock:pool"), c.known, keepSlots)
		}
		known, err := s.resize(c.from, c.to, "ours")
		if err != nil || formatInt(int64(known)) != c.known && (known != 0 || c.known != "") {
			t.Errorf("%+v: %d, %v", c, known, err)
		}
		s.wantKept("after it", c.want, keepSlots-time.Minute)
	}
	s.set(guard.MarkerKey, "voting|other|run|0")
	if _, err := s.resize(2, 3, "ours"); !errors.Is(err, driver.ErrQuarantined) {
		t.Errorf("another configuration: %v", err)
	}
}
