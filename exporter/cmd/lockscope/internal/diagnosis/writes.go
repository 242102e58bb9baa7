package diagnosis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// refusals are the codes with which a server refuses what it would do otherwise, and what
// to do about each.
func refusals() map[string]string {
	return map[string]string{
		"NOREPLICAS": "too few replicas follow it for min-replicas-to-write: repair them, or CONFIG SET " +
			"min-replicas-to-write 0",
		"MISCONF":     "it cannot write to its disk: free some space, then run BGSAVE",
		"OOM":         "it is full: free some memory, or raise maxmemory",
		"CLUSTERDOWN": "no node serves some slots of the cluster: run redis-cli --cluster check",
		"READONLY":    "it is a replica: give its master",
		"MASTERDOWN":  "it is a replica without its master: give the master",
		"LOADING":     "it loads its data: wait until it is done",
		"BUSY":        "a script hangs: run SCRIPT KILL",
	}
}

// writeRefusal returns the reply with which the server refuses to write, or "". It writes
// nothing: the key does not exist, and XX sets existing keys only. With --acl-user the
// doctor's own user need not have the right to write, so only the server's state counts.
func writeRefusal(ctx context.Context, c *redis.Client, p Policy, text string) string {
	if p.ACLUser == "" {
		err := c.Do(ctx, "set", p.Prefix+"lockscope-doctor-"+rand.Text(), "x", "xx", "px", 1).Err()
		if reply, ok := errors.AsType[redis.Error](err); ok {
			if code, _, _ := strings.Cut(reply.Error(), " "); refusals()[code] != "" {
				return reply.Error()
			}
		}
	}
	info := redisinfo.Parse(text)
	config := func(name string) string {
		found, _ := c.ConfigGet(ctx, name).Result() // "" without the right to ask
		return found[name]
	}
	if least, _ := strconv.ParseInt(config("min-replicas-to-write"), 10, 64); least > 0 {
		if good, told := info["min_slaves_good_slaves"]; told && info.Number("min_slaves_good_slaves") < least {
			return fmt.Sprintf("NOREPLICAS %s of %d replicas follow it", good, least)
		}
	}
	if info["rdb_last_bgsave_status"] == "err" && config("stop-writes-on-bgsave-error") == "yes" &&
		config("save") != "" {
		return "MISCONF its last snapshot failed"
	}
	if info["cluster_enabled"] == "1" {
		if state := redisinfo.Parse(c.ClusterInfo(ctx).Val()); state["cluster_state"] == "fail" {
			return fmt.Sprintf("CLUSTERDOWN %s of 16384 slots are served", state["cluster_slots_ok"])
		}
	}
	return ""
}

func checkWrites(f Facts, _ Policy) inspect.Result {
	if f.Refuses == "" {
		return inspect.Passed("it accepts writes, as far as doctor can tell")
	}
	code, _, _ := strings.Cut(f.Refuses, " ")
	return inspect.Failed("it refuses to write: "+f.Refuses, refusals()[code])
}
