package gocronlock_test

import (
	"fmt"
	"log"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/gocronlock"
	"github.com/lockscope/lockscope/lock/memlock"
)

func ExampleNewLocker() {
	locker, err := memlock.New(memlock.NewNodes(3)) // redlock.Open in a service
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	scheduler, err := gocron.NewScheduler(
		gocron.WithDistributedLocker(gocronlock.NewLocker(locker, lock.MaxHold(time.Hour))))
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan struct{})
	_, err = scheduler.NewJob(
		gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()), // or a gocron.CronJob
		gocron.NewTask(func() { fmt.Println("the report, from one process"); close(done) }),
		gocron.WithName("report"))
	if err != nil {
		log.Fatal(err)
	}
	scheduler.Start()
	<-done
	if err := scheduler.Shutdown(); err != nil {
		log.Fatal(err)
	}
	// Output: the report, from one process
}
