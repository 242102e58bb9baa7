package fencing

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Objects is what [UpdateObject] needs of a store with conditional writes, such as S3. examples/fencing has one on the
// SDK of AWS.
type Objects interface {
	// Get returns the content of an object and its ETag, or an error that matches fs.ErrNotExist.
	Get(ctx context.Context, key string) (content []byte, etag string, err error)
	// Put writes the object if it still has that ETag (If-Match) or, for an empty one, if it does not exist
	// (If-None-Match: *). It fails with an error that matches [ErrChanged] if not: S3 answers 412, 409 or 404 then.
	Put(ctx context.Context, key string, content []byte, etag string) error
}

// ErrChanged means that somebody else wrote or deleted an object since it was read.
var ErrChanged = errors.New("fencing: the object has changed")

// ErrUnconditional means that a store accepted a conditional write whose condition was false: late writes would pass.
var ErrUnconditional = errors.New("fencing: the store ignores the conditions of writes")

// noETag is the ETag of no object.
const noETag = `"00000000000000000000000000000000"`

// objectTries bounds the loop: a holder meets few other writers, all of them too late.
const objectTries = 10

// UpdateObject replaces an object's content by what change returns for it, unless a higher token has written. old is
// nil if there is no object. If somebody else writes meanwhile, UpdateObject reads again and calls change again: it
// must have no other effect. The same token passes again: a lease may write often.
//
// UpdateObject fails with *StaleError if fence is too low, with the error of change, or with those of the store. After
// ten changes by others it gives up with [ErrChanged]. If the store's client repeats a request whose answer was lost,
// UpdateObject detects its own write, also below up to nine writes of others. Beyond these it fails with ErrChanged, and
// nobody knows whether the change was made. The same is true after any other error of the store's Put: if change counts
// something, read the object before you call UpdateObject again.
//
// Before the first write under a token, UpdateObject tries to write what is there with an ETag that no object has. A store
// that accepts this ignores If-Match, and UpdateObject fails with [ErrUnconditional]. If there was no object, that leaves
// an empty one. Every later call fails as well, since nothing is written under a token.
//
// The object begins with a line that has the token; read it with [ReadObject]. The token could not be in the metadata:
// an ETag of S3 is a digest of the content alone. It would be the same again after a later holder wrote the same
// content, and a late write would pass. Never delete such an object, which forgets the token; make it empty.
func UpdateObject(ctx context.Context, store Objects, key string, fence uint64,
	change func(old []byte) ([]byte, error),
) error {
	if err := Check(key, fence); err != nil {
		return err
	}
	// The random text makes each write's ETag a new one.
	id, base, verified := rand.Text(), "", false
	for try := range objectTries {
		object, etag, err := store.Get(ctx, key)
		if errors.Is(err, fs.ErrNotExist) {
			object, etag, err = nil, "", nil
		}
		if err != nil {
			return fmt.Errorf("fencing: read %q: %w", key, err)
		}
		old, seen, ids := splitObject(object)
		if slices.Contains(ids, id) {
			return nil
		}
		if known := slices.Contains(ids, base) || base == "" && len(ids) < rememberedWrites; try > 0 && !known {
			return fmt.Errorf("%w: %q, so often that it is unknown whether this change was made: read it", ErrChanged, key)
		}
		if seen > fence {
			return &StaleError{Resource: key, Fence: fence, Seen: seen}
		}
		if seen == 0 && !verified {
			if err := verifyConditions(ctx, store, key, object); err != nil {
				return err
			}
			verified = true
		}
		content, err := change(old)
		if err != nil {
			return err
		}
		if base = ""; len(ids) > 0 {
			base = ids[0]
		}
		ids = append([]string{id}, ids[:min(len(ids), rememberedWrites-1)]...)
		written := append(fmt.Appendf(nil, objectHeader+"\n", fence, strings.Join(ids, " ")), content...)
		if err := store.Put(ctx, key, written, etag); err == nil || !errors.Is(err, ErrChanged) {
			return named(key, err)
		}
	}
	return fmt.Errorf("%w: %q, during each of %d tries: check who else writes it", ErrChanged, key, objectTries)
}

// verifyConditions makes a write that must fail. It changes nothing if it does not.
func verifyConditions(ctx context.Context, store Objects, key string, object []byte) error {
	switch err := store.Put(ctx, key, object, noETag); {
	case err == nil:
		return fmt.Errorf("%w: it overwrote %q despite a false If-Match: use a store with conditional writes",
			ErrUnconditional, key)
	case !errors.Is(err, ErrChanged):
		return named(key, err)
	}
	return nil
}

func named(key string, err error) error {
	if err != nil {
		return fmt.Errorf("fencing: write %q: %w", key, err)
	}
	return nil
}

// ReadObject returns the content of an object and the token of its last write; 0 if none has written it. A holder that
// writes what it makes of the content does so in [UpdateObject] instead. ReadObject fails with the store's errors.
func ReadObject(ctx context.Context, store Objects, key string) (content []byte, fence uint64, err error) {
	object, _, err := store.Get(ctx, key)
	if err != nil {
		return nil, 0, fmt.Errorf("fencing: read %q: %w", key, err)
	}
	content, fence, _ = splitObject(object)
	return content, fence, nil
}

// objectHeader is the first line of an object: its token, and the random texts of its last writes, the newest first.
const objectHeader = "lockscope-fence %d %s"

// rememberedWrites is how many of them an object keeps.
const rememberedWrites = 10

// splitObject takes an object without the line for one that was never written under a token.
func splitObject(object []byte) (content []byte, fence uint64, ids []string) {
	line, content, found := bytes.Cut(object, []byte("\n"))
	fields := strings.Split(string(line), " ")
	if !found || len(fields) < 3 || fields[0] != "lockscope-fence" {
		return object, 0, nil
	}
	fence, err := strconv.ParseUint(fields[1], 10, 63)
	if err != nil {
		return object, 0, nil
	}
	return content, fence, fields[2:]
}
