package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
)

// campaign is one candidate's process: it leads whenever it is its turn, until ctx ends.
func campaign(ctx context.Context, cfg config, out io.Writer) (err error) {
	locker, err := cfg.open(cfg.candidate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, locker.Close()) }()
	lead := func(ctx context.Context, term election.Term) error {
		fmt.Fprintf(out, "%s  leads in term %d\n", cfg.candidate, term.Number())
		<-ctx.Done() // the work of a leader, which passes term.Number() to the storage with each write
		fmt.Fprintf(out, "%s  stops: %v\n", cfg.candidate, context.Cause(ctx))
		return nil
	}
	standby := func(_ context.Context, leader lock.Holder) {
		fmt.Fprintf(out, "%s  is the first in line behind %s, and loads what a leader needs\n", cfg.candidate,
			leader.Instance)
	}
	err = election.Run(ctx, locker, "billing", lead, election.TTL(ttl), election.Standby(standby))
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
