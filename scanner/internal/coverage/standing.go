package coverage

import (
	"fmt"

	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
	"github.com/lockscope/lockscope/scanner/internal/node"
)

// Standing is what the servers of a node report about their roles. It is read before and after the pages, because
// only what is the same both times held in between.
type Standing struct {
	master redisinfo.Info
	Pages  redisinfo.Info // the replica's if pages are read there, else the master's
	View   node.ClusterView
	viewed bool
}

// clustered reports whether the node belongs to a cluster.
func (s *Standing) clustered() bool { return s.viewed || s.master["cluster_enabled"] == "1" }

// strange reports whether the replica has none of the master's data.
func (s *Standing) strange() bool {
	of, replica := s.master["master_replid"], s.Pages
	if of == "" || replica["master_replid"] == "" {
		return false // unknown: see unsynced
	}
	return replica["master_replid"] != of && replica["master_replid2"] != of
}

// lag is how many bytes the replica is behind while it follows.
func (s *Standing) lag() int64 {
	if !s.follows() {
		return 0
	}
	return s.master.Number("master_repl_offset") - s.Pages.Number("slave_repl_offset")
}

// follows reports whether the replica receives its master's data.
func (s *Standing) follows() bool {
	return s.Pages.Role() == "slave" && s.Pages["master_link_status"] == "up" &&
		s.Pages.Number("master_sync_in_progress") == 0
}

// unsynced says why the replica is not proved to have the master's data; "" if it is.
func (s *Standing) unsynced() string {
	switch {
	case s.Pages.Role() == "" || s.master["master_replid"] == "" || s.Pages["master_replid"] == "":
		return "the replica or its master does not report its replication"
	case s.Pages.Role() != "slave":
		return "the server is no longer a replica"
	case !s.follows():
		return "the replica's link to its master is down"
	case s.lag() > 0:
		return fmt.Sprintf("the replica is %d bytes behind", s.lag())
	}
	return ""
}
