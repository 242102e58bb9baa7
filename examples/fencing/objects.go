package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/lockscope/lockscope/lock/fencing"
)

// bucket implements fencing.Objects on S3.
type bucket struct {
	client *s3.Client
	name   string
}

var _ fencing.Objects = bucket{}

// Get implements fencing.Objects.
func (b bucket) Get(ctx context.Context, key string) ([]byte, string, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if _, missing := errors.AsType[*types.NoSuchKey](err); missing {
		return nil, "", fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, "", err
	}
	defer out.Body.Close()
	content, err := io.ReadAll(out.Body)
	return content, aws.ToString(out.ETag), err
}

// Put implements fencing.Objects.
func (b bucket) Put(ctx context.Context, key string, content []byte, etag string) error {
	in := &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: bytes.NewReader(content)}
	if etag == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = &etag
	}
	_, err := b.client.PutObject(ctx, in)
	var answer interface{ HTTPStatusCode() int }
	if !errors.As(err, &answer) {
		return err
	}
	switch code := answer.HTTPStatusCode(); {
	case code == http.StatusPreconditionFailed, code == http.StatusConflict, code == http.StatusNotFound && etag != "":
		return fmt.Errorf("%w: %w", fencing.ErrChanged, err)
	}
	return err
}

// openBucket makes a bucket on the server of a URL like http://user:password@host:port, or on one in this process if that
// is empty. Its function removes what was made.
func openBucket(ctx context.Context, server, name string) (b bucket, text string, done func() error, err error) {
	text, done = "S3", func() error { return nil }
	if server == "" {
		text = "S3 (fake)"
		if server, done, err = startFakeS3(ctx); err != nil {
			return b, "", nil, err
		}
	}
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return b, "", nil, errors.Join(errors.New("-s3 must be like http://user:password@host:port"), done())
	}
	secret, _ := u.User.Password()
	b.name = strings.ReplaceAll(name, "_", "-") // a bucket's name is a host's
	b.client = s3.New(s3.Options{
		BaseEndpoint: aws.String(u.Scheme + "://" + u.Host), Region: "us-east-1", UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(u.User.Username(), secret, ""),
	})
	if _, err := b.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &b.name}); err != nil {
		return b, "", nil, errors.Join(err, done())
	}
	stop := done
	return b, text, func() error { return errors.Join(b.remove(), stop()) }, nil
}

// remove deletes the bucket, which has at most one object.
func (b bucket) remove() error {
	ctx := context.Background()
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: aws.String(objectKey)})
	if err == nil {
		_, err = b.client.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &b.name})
	}
	return err
}

const objectKey = "balance"

// startFakeS3 serves S3 from memory. It honours conditional writes.
func startFakeS3(ctx context.Context) (address string, stop func() error, err error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	fake := gofakes3.New(s3mem.New(), gofakes3.WithLogger(gofakes3.DiscardLog()))
	server := &http.Server{Handler: fake.Server(), ReadHeaderTimeout: time.Minute}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l) // it ends with Close
	}()
	return "http://key:secret@" + l.Addr().String(), func() error {
		defer func() { <-served }()
		return server.Close()
	}, nil
}
