package riverlock_test

import (
	"log"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/riverlock"
	"github.com/lockscope/lockscope/lock/memlock"
)

func ExampleNew() {
	locker, err := memlock.New(memlock.NewNodes(3)) // redlock.Open in a service
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	_ = river.Config{ // for river.NewClient
		Plugins: []rivertype.Plugin{riverlock.New(locker, riverlock.Key, nil, lock.MaxHold(time.Hour))},
	}
	// Output:
}
