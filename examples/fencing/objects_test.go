package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockscope/lockscope/lock/fencing"
)

// openTestBucket is on the server of LOCKSCOPE_S3, like http://user:password@host:port, or on the fake.
func openTestBucket(t *testing.T) bucket {
	t.Helper()
	var run [4]byte
	copy(run[:], t.Name()[len(t.Name())-4:])
	b, name, done, err := openBucket(t.Context(), os.Getenv("LOCKSCOPE_S3"), fmt.Sprintf("lockscope-test-%x", run))
	must(t, err)
	t.Log(name)
	t.Cleanup(func() { must(t, done()) })
	return b
}

// TestServerHonoursConditions: what package fencing relies on is so.
func TestServerHonoursConditions(t *testing.T) {
	b, ctx := openTestBucket(t), t.Context()
	if _, _, err := b.Get(ctx, objectKey); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no object: %v", err)
	}
	other := `"00000000000000000000000000000000"`
	if err := b.Put(ctx, objectKey, []byte("a"), other); !errors.Is(err, fencing.ErrChanged) {
		t.Errorf("If-Match without an object: %v", err)
	}
	must(t, b.Put(ctx, objectKey, []byte("a"), ""))
	if err := b.Put(ctx, objectKey, []byte("b"), ""); !errors.Is(err, fencing.ErrChanged) {
		t.Errorf("If-None-Match: * with an object: %v", err)
	}
	_, first, err := b.Get(ctx, objectKey)
	must(t, err)
	must(t, b.Put(ctx, objectKey, []byte("b"), first))
	if err := b.Put(ctx, objectKey, []byte("c"), first); !errors.Is(err, fencing.ErrChanged) {
		t.Errorf("If-Match with an old ETag: %v", err)
	}
	if content, _, err := b.Get(ctx, objectKey); err != nil || string(content) != "b" {
		t.Errorf("%q, %v", content, err)
	}
}

// TestObjectsConcurrently: every change of a holder is made once, and the highest token stays.
func TestObjectsConcurrently(t *testing.T) {
	b := openTestBucket(t)
	const writers = 4
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			err := fencing.UpdateObject(t.Context(), b, objectKey, uint64(w+1), func(old []byte) ([]byte, error) {
				return fmt.Appendf(old, "%d", w+1), nil
			})
			if err != nil && !errors.Is(err, fencing.ErrStale) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	content, fence, err := fencing.ReadObject(t.Context(), b, objectKey)
	if err != nil || fence != writers || !bytes.HasSuffix(content, []byte{'0' + writers}) ||
		bytes.Count(content, []byte{'0' + writers}) != 1 {
		t.Errorf("%q, %d, %v", content, fence, err)
	}
}

// TestMetadataIsNotEnough: with the token in the metadata, a late write passes after a later holder has written what
// was there already, for the ETag is that of the content. UpdateObject refuses it.
func TestMetadataIsNotEnough(t *testing.T) {
	b, ctx := openTestBucket(t), t.Context()
	put := func(fence, content, etag string) error {
		in := &s3.PutObjectInput{Bucket: &b.name, Key: aws.String(objectKey), Body: bytes.NewReader([]byte(content)),
			Metadata: map[string]string{"fence": fence}}
		if etag != "" {
			in.IfMatch = &etag
		}
		_, err := b.client.PutObject(ctx, in)
		return err
	}
	must(t, put("1", "100", ""))
	_, seen, err := b.Get(ctx, objectKey) // the holder of 1 finds no higher token, and is stopped
	must(t, err)
	must(t, put("2", "100", seen))                // the holder of 2 writes
	if err := put("1", "130", seen); err != nil { // the holder of 1 goes on
		t.Errorf("this server tells the two writes apart, and the page says that none does: %v", err)
	}

	must(t, b.remove())
	_, err = b.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &b.name})
	must(t, err)
	write := func(fence uint64, content string) error {
		return fencing.UpdateObject(ctx, b, objectKey, fence, func([]byte) ([]byte, error) { return []byte(content), nil })
	}
	must(t, write(1, "100"))
	late := meanwhile{Objects: b, then: func() { must(t, write(2, "100")) }}
	err = fencing.UpdateObject(ctx, &late, objectKey, 1, func([]byte) ([]byte, error) { return []byte("130"), nil })
	if !errors.Is(err, fencing.ErrStale) {
		t.Errorf("a late write: %v", err)
	}
}

// meanwhile lets something happen between the first read and the write.
type meanwhile struct {
	fencing.Objects
	then func()
}

func (m *meanwhile) Get(ctx context.Context, key string) ([]byte, string, error) {
	content, etag, err := m.Objects.Get(ctx, key)
	if then := m.then; then != nil {
		m.then = nil
		then()
	}
	return content, etag, err
}
