package discover

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/discover"
)

// groupBeside writes a group of one system beside Redis. What scan would read by a prefix is a comment where it would
// report what is healthy.
func groupBeside(b *strings.Builder, o *looked, fields []servers.Field) {
	fmt.Fprintf(b, "  - name: %s\n", strconv.Quote(o.backend+" "+o.node))
	own := map[string]string{"etcd_prefix": lock.DefaultPrefix, "zookeeper_root": zklock.DefaultRoot}
	has := make(map[string]bool)
	for _, f := range fields {
		fmt.Fprintf(b, "    %s: %s\n", f.Name, f.Value)
		if text, err := strconv.Unquote(f.Value); err == nil {
			own[f.Name] = text
		}
		has[f.Name] = true
	}
	switch {
	case o.backend == "zookeeper":
		b.WriteString("    # zookeeper_auth_file: zookeeper-auth\n")
	case !has["password_file"]:
		fmt.Fprintf(b, "    # password_file: %s-password\n", o.backend)
	}
	var sure, rest []*discover.Found
	for i := range o.found {
		f := &o.found[i]
		if toRead(o.backend, f, own) {
			sure = append(sure, f)
		} else {
			rest = append(rest, f)
		}
	}
	if len(rest) > 0 {
		b.WriteString("    # Also seen. It needs no prefix, or healthy keys beside the locks would be findings:\n")
	}
	for _, f := range rest {
		fmt.Fprintf(b, "    #   %s, %s\n", strconv.Quote(f.Pattern), summaryOfSystem(f))
	}
	if len(sure) > 0 {
		b.WriteString("    prefixes:\n")
	}
	written := make(map[string]bool)
	for _, f := range sure {
		fmt.Fprintf(b, "      # %s\n", summaryOfSystem(f))
		if !written[f.Pattern] {
			fmt.Fprintf(b, "      - %s\n", strconv.Quote(f.Pattern))
		}
		written[f.Pattern] = true
	}
}

// toRead says whether a prefix is proposed for what was found. In etcd every key below it without a lease is a finding,
// so it has to be a folder of locks; in ZooKeeper only places in queues are.
func toRead(system string, f *discover.Found, own map[string]string) bool {
	switch system {
	case "etcd":
		folders := []discover.Library{"concurrency.Mutex", "concurrency.Election", "python-etcd3", discover.Lockscope}
		return f.Pattern != "" && slices.Contains(folders, f.Library) && !strings.HasPrefix(f.Pattern, own["etcd_prefix"])
	case "zookeeper":
		root := own["zookeeper_root"]
		return f.Pattern != "/" && f.Pattern != root && !strings.HasPrefix(f.Pattern, root+"/")
	}
	return false
}

func summaryOfSystem(f *discover.Found) string {
	never := ""
	if f.NoTTL > 0 {
		never = fmt.Sprintf(", %d never expire", f.NoTTL)
		if f.NoTTL == 1 {
			never = ", 1 never expires"
		}
	}
	return fmt.Sprintf("%s, %s: %s. %s seen%s.", f.Library, f.Confidence, f.Evidence, inspect.Count(f.Keys, "lock"), never)
}
