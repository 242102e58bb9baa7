package claims

import (
	"errors"
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/lockscope/lockscope/lock/driver"
)

// FuzzStored reads values that anybody may have put: the base of the fences, and the number of slots.
func FuzzStored(f *testing.F) {
	f.Add([]byte("1795697208763505"), int64(17))
	f.Add([]byte("18446744073709551615"), int64(1))
	f.Add([]byte("-5"), int64(1))
	f.Add([]byte("5"), int64(1))
	f.Fuzz(func(t *testing.T, value []byte, at int64) {
		kvs := []*mvccpb.KeyValue{{Value: value, ModRevision: at}}
		if slots := slotsIn(kvs); slots == 0 || slots < -1 {
			t.Fatalf("%q is %d slots", value, slots)
		}
		if at < 1 { // a server's revisions begin at 1
			return
		}
		var base fences
		b, err := base.read(kvs, at)
		if err != nil && !errors.Is(err, driver.ErrFenceCounter) {
			t.Fatalf("%q: %v", value, err)
		}
		if err == nil && (b.value+uint64(at) > maxFence || b.value+uint64(at) < b.value) {
			t.Fatalf("%q at %d gives fence %d", value, at, b.value+uint64(at))
		}
	})
}
