package fencing_test

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/fencing"
)

// bucket is a store whose ETags are digests of the content, as those of S3. examples/fencing has a real server.
type bucket struct {
	objects map[string][]byte
	before  func() // runs before the next Put
	lost    int    // Puts whose answer is lost and that the client repeats
	between func() // runs before a repeated Put
	blind   bool   // it ignores conditions
}

func (b *bucket) Get(_ context.Context, key string) ([]byte, string, error) {
	content, found := b.objects[key]
	if !found {
		return nil, "", fs.ErrNotExist
	}
	return content, etag(content), nil
}

func (b *bucket) Put(ctx context.Context, key string, content []byte, tag string) error {
	if before := b.before; before != nil {
		b.before = nil
		before()
	}
	present, found := b.objects[key]
	if !b.blind && (found && tag != etag(present) || !found && tag != "") {
		return fencing.ErrChanged
	}
	if b.objects == nil {
		b.objects = make(map[string][]byte)
	}
	b.objects[key] = content
	if b.lost > 0 {
		b.lost--
		if b.between != nil {
			b.between()
		}
		return b.Put(ctx, key, content, tag)
	}
	return nil
}

func etag(content []byte) string {
	sum := md5.Sum(content)
	return hex.EncodeToString(sum[:])
}

func write(text string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return []byte(text), nil }
}

func wantObject(t *testing.T, b *bucket, content string, fence uint64) {
	t.Helper()
	got, seen, err := fencing.ReadObject(t.Context(), b, "k")
	if err != nil || string(got) != content || seen != fence {
		t.Errorf("%q, %d, %v; want %q, %d", got, seen, err, content, fence)
	}
}

// TestLateWritesOfObjects are refused, however they and the others come between each other.
func TestLateWritesOfObjects(t *testing.T) {
	b := new(bucket)
	update := func(fence uint64, text string) error {
		return fencing.UpdateObject(t.Context(), b, "k", fence, write(text))
	}
	if _, _, err := fencing.ReadObject(t.Context(), b, "k"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no object: %v", err)
	}
	must(t, update(5, "x"))
	must(t, update(5, "y"))
	want := fencing.StaleError{Resource: "k", Fence: 4, Seen: 5}
	if stale, ok := errors.AsType[*fencing.StaleError](update(4, "late")); !ok || *stale != want {
		t.Errorf("%+v", stale)
	}
	// The later holder writes what is there already. Its ETag would be the same without the line.
	b.before = func() { must(t, update(6, "y")) }
	if err := update(5, "late"); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("a write between the read and the write: %v", err)
	}
	wantObject(t, b, "y", 6)
	// An earlier holder comes between: the change is made again, of what it wrote.
	b.before = func() { must(t, update(6, "z")) }
	must(t, fencing.UpdateObject(t.Context(), b, "k", 7, func(old []byte) ([]byte, error) {
		return append(old, '!'), nil
	}))
	wantObject(t, b, "z!", 7)
}

// TestAnswersThatAreLost: a client repeats its request, which has taken effect. The change is not made twice.
func TestAnswersThatAreLost(t *testing.T) {
	b := &bucket{lost: 1}
	more := func(old []byte) ([]byte, error) { return append(old, '+'), nil }
	must(t, fencing.UpdateObject(t.Context(), b, "k", 5, more))
	wantObject(t, b, "+", 5)
	b.lost = 1
	must(t, fencing.UpdateObject(t.Context(), b, "k", 5, more))
	wantObject(t, b, "++", 5)

	// Another goroutine of the same lease makes the same change meanwhile. That write is not ours.
	b = new(bucket)
	b.before = func() { must(t, fencing.UpdateObject(t.Context(), b, "k", 5, more)) }
	must(t, fencing.UpdateObject(t.Context(), b, "k", 5, more))
	wantObject(t, b, "++", 5)
}

// TestOthersWriteWhileAnAnswerIsLost: a goroutine of the same lease, or a later holder, builds on the write whose answer
// was lost. The change is not made twice, and no error says that it was not made.
func TestOthersWriteWhileAnAnswerIsLost(t *testing.T) {
	more := func(old []byte) ([]byte, error) { return append(old, '+'), nil }
	for _, c := range []struct {
		others int
		fence  uint64 // of the others
	}{{1, 5}, {3, 5}, {1, 6}, {9, 5}} {
		b := new(bucket)
		must(t, fencing.UpdateObject(t.Context(), b, "k", 5, more))
		b.lost, b.between = 1, func() {
			for range c.others {
				must(t, fencing.UpdateObject(t.Context(), b, "k", c.fence, more))
			}
		}
		must(t, fencing.UpdateObject(t.Context(), b, "k", 5, more))
		wantObject(t, b, strings.Repeat("+", 2+c.others), c.fence)
	}

	// Beyond the writes that an object remembers, nobody knows: the change is not made again.
	b := new(bucket)
	must(t, fencing.UpdateObject(t.Context(), b, "k", 5, more))
	b.lost, b.between = 1, func() {
		for range 20 {
			must(t, fencing.UpdateObject(t.Context(), b, "k", 5, more))
		}
	}
	if err := fencing.UpdateObject(t.Context(), b, "k", 5, more); !errors.Is(err, fencing.ErrChanged) {
		t.Errorf("20 writes while an answer was lost: %v", err)
	}
	wantObject(t, b, strings.Repeat("+", 22), 5)
}

// TestStoreIgnoresConditions: nothing is written to such a store, which lets late writes pass.
func TestStoreIgnoresConditions(t *testing.T) {
	for _, objects := range []map[string][]byte{{}, {"k": []byte("old")}, {"k": nil}} {
		b, before := &bucket{objects: objects, blind: true}, string(objects["k"])
		for range 2 {
			err := fencing.UpdateObject(t.Context(), b, "k", 5, write("new"))
			if !errors.Is(err, fencing.ErrUnconditional) || !strings.Contains(err.Error(), `"k"`) {
				t.Errorf("%q: %v", before, err)
			}
		}
		wantObject(t, b, before, 0)
	}
}

// TestObjectsWithoutToken were there before, and are taken over.
func TestObjectsWithoutToken(t *testing.T) {
	for _, content := range []string{"", "text", "lockscope-fence\n", "lockscope-fence 7", "a\nb"} {
		b := &bucket{objects: map[string][]byte{"k": []byte(content)}}
		wantObject(t, b, content, 0)
		must(t, fencing.UpdateObject(t.Context(), b, "k", 1, func(old []byte) ([]byte, error) {
			if string(old) != content {
				t.Errorf("%q became %q", content, old)
			}
			return []byte("new\n"), nil
		}))
		wantObject(t, b, "new\n", 1)
	}
}

// TestObjectErrors reach the caller.
func TestObjectErrors(t *testing.T) {
	b := new(bucket)
	no := errors.New("no")
	err := fencing.UpdateObject(t.Context(), b, "k", 1, func([]byte) ([]byte, error) { return nil, no })
	if !errors.Is(err, no) || len(b.objects) > 0 {
		t.Errorf("%v, %v", err, b.objects)
	}
	if err := fencing.UpdateObject(t.Context(), b, "k", 0, write("x")); !errors.Is(err, lock.ErrInvalidOption) {
		t.Error(err)
	}
	busy := changing{b}
	err = fencing.UpdateObject(t.Context(), busy, "k", 1, write("x"))
	if !errors.Is(err, fencing.ErrChanged) || !strings.Contains(err.Error(), `"k"`) {
		t.Error(err)
	}
}

// changing is a store in which somebody always writes first.
type changing struct{ *bucket }

func (changing) Put(context.Context, string, []byte, string) error { return fencing.ErrChanged }
