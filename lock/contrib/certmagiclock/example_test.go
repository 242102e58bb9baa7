package certmagiclock_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/caddyserver/certmagic"

	"github.com/lockscope/lockscope/lock/contrib/certmagiclock"
	"github.com/lockscope/lockscope/lock/memlock"
)

func ExampleNewStorage() {
	locker, err := memlock.New(memlock.NewNodes(3)) // redlock.Open in a service
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	folder, err := os.MkdirTemp("", "certs-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	storage := certmagiclock.NewStorage(&certmagic.FileStorage{Path: folder}, locker) // for certmagic.Config
	ctx := context.Background()
	if err := storage.Lock(ctx, "issue_cert_example.com"); err != nil { // as certmagic does
		log.Fatal(err)
	}
	again, err := storage.TryLock(ctx, "issue_cert_example.com")
	fmt.Println(again, err)
	fmt.Println(storage.Unlock(ctx, "issue_cert_example.com"))
	// Output:
	// false <nil>
	// <nil>
}
