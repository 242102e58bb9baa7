package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// keep takes permits and keeps them until ctx ends, or until the process is killed.
func keep(ctx context.Context, cfg config, out io.Writer) (err error) {
	locker, err := cfg.open(fmt.Sprintf("batch/%d", os.Getpid()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, locker.Close()) }()
	pool, err := semaphore.New(locker, name, permits)
	if err != nil {
		return err
	}
	for range cfg.hold {
		permit, err := pool.Acquire(ctx, lock.TTL(ttl))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, permit.Release(context.WithoutCancel(ctx))) }()
		fmt.Fprintf(out, "slot %d, fencing token %d\n", permit.Slot(), permit.Fence())
	}
	fmt.Fprintln(out, "kept")
	<-ctx.Done()
	return nil
}

// tell fills the semaphore from two processes, kills one, and waits for a permit that comes back.
func tell(ctx context.Context, cfg config, out io.Writer) (err error) {
	began := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(out, "%6d ms  %s\n", time.Since(began).Milliseconds(), fmt.Sprintf(format, args...))
	}
	locker, err := cfg.open("web/1")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, locker.Close()) }()
	pool, err := semaphore.New(locker, name, permits)
	if err != nil {
		return err
	}
	batch, err := startBatch(cfg)
	if err != nil {
		return err
	}
	defer batch.kill()
	say("another process has two of the %d permits", permits)
	own, err := pool.Acquire(ctx, lock.TTL(ttl))
	if err != nil {
		return err
	}
	say("this process has the third: slot %d, fencing token %d", own.Slot(), own.Fence())
	_, err = pool.TryAcquire(ctx, lock.TTL(ttl))
	if !errors.Is(err, lock.ErrHeld) {
		return fmt.Errorf("a fourth permit: %w", err)
	}
	say("a fourth is refused: %v", err)
	say("kill -KILL the other process: its permits stay taken until they expire")
	batch.kill()
	killed := time.Now()
	err = pool.Do(ctx, func(_ context.Context, permit *semaphore.Permit) error {
		say("slot %d is free again %d ms later; its fencing token is now %d", permit.Slot(),
			time.Since(killed).Milliseconds(), permit.Fence())
		return nil
	}, lock.TTL(ttl))
	return errors.Join(err, own.Release(context.WithoutCancel(ctx)))
}

// batch is a process that keeps two permits.
type batch struct{ *exec.Cmd }

func startBatch(cfg config) (batch, error) {
	program, err := os.Executable()
	if err != nil {
		return batch{}, err
	}
	args := []string{"-hold", "2", "-redis", strings.Join(cfg.urls, ","), "-fresh=" + strconv.FormatBool(cfg.fresh)}
	b := batch{exec.Command(program, args...)}
	b.Stderr = os.Stderr
	said, err := b.StdoutPipe()
	if err != nil {
		return batch{}, err
	}
	if err := b.Start(); err != nil {
		return batch{}, err
	}
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if lines.Text() == "kept" {
			return b, nil
		}
	}
	b.kill()
	return batch{}, errors.New("the other process got no permits")
}

// kill ends the process with SIGKILL, which it cannot handle. A second call does nothing.
func (b batch) kill() {
	if b.ProcessState == nil {
		_ = b.Process.Kill()
		_ = b.Wait() // which says that it was killed
	}
}
