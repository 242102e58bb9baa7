//go:build linux

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/site"
)

// onNode is for everything that is done to a server. Administrators' commands are not cut
// short when ctx ends: what was broken is mended.
func (n *Nemesis) onNode(ctx context.Context, f Fault, d *Done) error {
	node := n.site.Nodes[f.Node]
	d.Nodes = []string{node.Name}
	admin := context.WithoutCancel(ctx)
	switch f.Kind {
	case NodeStopped:
		return errors.Join(node.Server.Pause(), slept(ctx, f.For), node.Server.Resume())
	case NodeRestarted, NodeWiped, DiskReplaced, RestartStep:
		return n.restart(ctx, f, d, node)
	case Flushed:
		return node.Do(admin, "FLUSHALL")
	case FlushStep:
		if err := node.Do(admin, "FLUSHALL"); err != nil {
			return err
		}
		step(node, f, d)
		return nil
	case ClockRate:
		d.Detail = fmt.Sprintf("%+.2f %%", float64(f.Amount)/1e7)
		node.Clock.SetRate(f.Amount)
		sleep(ctx, f.For)
		node.Clock.SetRate(0)
		return nil
	case Replica:
		return n.replicate(ctx, f, d, node)
	case ReadOnly:
		return errors.Join(node.Do(admin, "CONFIG", "SET", "min-replicas-to-write", 1), slept(ctx, f.For),
			node.Do(admin, "CONFIG", "SET", "min-replicas-to-write", 0))
	case DiskFull:
		return errors.Join(node.FillDisk(true), slept(ctx, f.For), node.FillDisk(false))
	case Busy:
		return n.busy(ctx, f, node)
	case ScriptFlush:
		return node.Do(admin, "SCRIPT", "FLUSH")
	case Disconnected:
		return node.Do(admin, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	default:
		return fmt.Errorf("nobody knows how to do %q", f.Kind)
	}
}

func slept(ctx context.Context, d time.Duration) error {
	sleep(ctx, d)
	return nil
}

func step(node *site.Node, f Fault, d *Done) {
	by := time.Duration(f.Amount) - node.Clock.Offset()
	d.Detail = fmt.Sprintf("by %v", by.Round(time.Millisecond))
	node.Clock.Step(by)
}

// restart kills a node, may do something to what it has stored or to its clock, and starts it again.
func (n *Nemesis) restart(ctx context.Context, f Fault, d *Done, node *site.Node) error {
	older := ""
	if f.Kind == DiskReplaced {
		if older = n.someCopy(f.Amount); older == "" {
			return fmt.Errorf("%w: no disk was copied yet", errSkipped)
		}
	}
	if err := node.Server.Kill(); err != nil {
		return err
	}
	errs := []error{nil}
	switch f.Kind {
	case NodeWiped:
		errs = append(errs, node.Server.Wipe())
	case DiskReplaced:
		d.Detail = "by one of " + older[len(n.dir)+1:]
		errs = append(errs, node.ReplaceDisk(older))
	case RestartStep:
		step(node, f, d)
	default:
		errs = append(errs, n.takeCopy(node))
	}
	sleep(ctx, f.For)
	return errors.Join(append(errs, bringBack(context.WithoutCancel(ctx), node))...)
}

// restarts is how often a node is started until it answers: one that stayed away would be a fault without an end.
const restarts = 3

func bringBack(ctx context.Context, node *site.Node) (err error) {
	for range restarts {
		if err = node.Server.Restart(ctx); err == nil {
			break
		}
	}
	return err
}

// replicate makes a node a copy of another and a master again, which then has the other's
// locks and the other's proof that it remembers. The other must carry its own proof: a node
// that gets back an older one of its own from there is not covered.
func (n *Nemesis) replicate(ctx context.Context, f Fault, d *Done, node *site.Node) error {
	admin := context.WithoutCancel(ctx)
	other := n.site.Nodes[f.Other]
	d.Nodes = append(d.Nodes, other.Name)
	if f.Other == f.Node {
		return errSkipped
	}
	switch own, err := other.HasOwnMarker(admin); {
	case err != nil:
		return err
	case !own:
		return fmt.Errorf("%w: %s carries no proof of its own", errSkipped, other.Name)
	}
	return errors.Join(node.Do(admin, "REPLICAOF", "127.0.0.1", strconv.Itoa(other.Server.Port())), slept(ctx, f.For),
		node.Do(admin, "REPLICAOF", "NO", "ONE"))
}

// busyLoops keep a server busy for a tenth of a second or so.
const busyLoops = 10_000_000

// busy runs scripts one after the other, so that the node answers others only between them.
func (n *Nemesis) busy(ctx context.Context, f Fault, node *site.Node) error {
	for until := time.Now().Add(f.For); time.Now().Before(until) && ctx.Err() == nil; {
		if err := node.Do(context.WithoutCancel(ctx), "EVAL", "for i = 1, tonumber(ARGV[1]) do end", 0,
			busyLoops); err != nil {
			return err
		}
	}
	return nil
}
