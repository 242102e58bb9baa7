package node

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// Info returns the server's INFO. A server that refuses it has none, which is not an error: other failures show when
// its keys are read. The error is that of the connection or the context, or the reply to a wrong or missing user or
// password.
func Info(ctx context.Context, client *redis.Client) (redisinfo.Info, error) {
	text, err := client.Info(ctx).Result()
	if err != nil && (errors.Is(err, redis.Nil) || // no reply to INFO: Sentinels know no master of this name
		!redisconn.IsReply(err) || redisconn.IsStranger(err)) {
		return nil, err
	}
	return redisinfo.Parse(text), nil
}

// EvalCommands returns the commands that run scripts, in order of preference. The first, of Redis 7, makes the server
// prevent writes.
func EvalCommands() []redisconn.EvalCommand {
	return []redisconn.EvalCommand{redisconn.EvalReadOnly(), redisconn.Eval()}
}

// IsRefused reports whether the server lacks the command, or refuses it to this user. It does not cover what a script
// may not do, because plain commands may do no more.
func IsRefused(err error) bool {
	return redisconn.IsUnknownCommand(err) || redis.HasErrorPrefix(err, "NOPERM")
}

// ClusterView is what one node of a Redis Cluster reports about the cluster's slots.
type ClusterView struct {
	Own       SlotSet // that the node serves
	Assigned  SlotSet // that any node serves, by its account
	Importing SlotSet // that are on the move to the node
	Migrating SlotSet // that are on the move away from it
}

// Moving returns the slots whose keys may be on two nodes.
func (v *ClusterView) Moving() SlotSet { return v.Importing.Union(v.Migrating) }

// View asks a node of a cluster for its slots. The error is that of the server, the connection or the context, or
// matches driver.ErrBadReply.
func View(ctx context.Context, client *redis.Client) (ClusterView, error) {
	text, err := client.ClusterNodes(ctx).Result()
	if err != nil {
		return ClusterView{}, err
	}
	return parseView(text)
}

// slotsColumn is the column of CLUSTER NODES at which the slots begin.
const slotsColumn = 8

// parseView reads CLUSTER NODES: id, address, flags, master, three numbers, the state of the link, and the slots.
// Only the node's own line has moving slots.
func parseView(text string) (ClusterView, error) {
	var v ClusterView
	own := false
	for line := range strings.Lines(text) {
		columns := strings.Fields(line)
		if len(columns) < slotsColumn {
			return v, fmt.Errorf("%w: a line of CLUSTER NODES has %d columns", driver.ErrBadReply, len(columns))
		}
		flags := "," + columns[2] + ","
		myself := strings.Contains(flags, ",myself,")
		own = own || myself
		for _, column := range columns[slotsColumn:] {
			if err := v.add(column, myself); err != nil {
				return v, err
			}
		}
	}
	if !own {
		return v, fmt.Errorf("%w: CLUSTER NODES does not name the node itself", driver.ErrBadReply)
	}
	return v, nil
}

// add takes 17, 0-5460, [93->-id] or [93-<-id].
func (v *ClusterView) add(column string, myself bool) error {
	bare := strings.Trim(column, "[]")
	first, rest, _ := strings.Cut(bare, "-")
	from, err := strconv.Atoi(first)
	if err != nil {
		return fmt.Errorf("%w: CLUSTER NODES has slots %.40q", driver.ErrBadReply, column)
	}
	switch {
	case strings.HasPrefix(rest, ">-"):
		v.Migrating.Add(SlotRange{from, from})
		return nil
	case strings.HasPrefix(rest, "<-"):
		v.Importing.Add(SlotRange{from, from})
		return nil
	}
	r := SlotRange{from, from}
	if rest != "" {
		if r.Last, err = strconv.Atoi(rest); err != nil {
			return fmt.Errorf("%w: CLUSTER NODES has slots %.40q", driver.ErrBadReply, column)
		}
	}
	v.Assigned.Add(r)
	if myself {
		v.Own.Add(r)
	}
	return nil
}
