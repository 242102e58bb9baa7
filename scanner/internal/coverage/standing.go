package coverage

import (
	"fmt"

	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
	"github.com/lockscope/lockscope/scanner/internal/server"
)

// Standing is what the servers of a node say of their places. It is asked for before and
// after the pages: only what is the same both times was so while they were read.
type Standing struct {
	master redisinfo.Info
	Pages  redisinfo.Info // the replica's if pages are read there, else the master's
	View   server.ClusterView
	viewed bool
}

// clustered says that the node is one of a cluster.
func (s *Standing) clustered() bool { return s.viewed || s.master["cluster_enabled"] == "1" }

// strange says that the replica has no data of the master's.
func (s *Standing) strange() bool {
	of, replica := s.master["master_replid"], s.Pages
	if of == "" || replica["master_replid"] == "" {
		return false // it cannot be told: see unsynced
	}
	return replica["master_replid"] != of && replica["master_replid2"] != of
}

// lag is by how many bytes the replica is behind, as long as it follows at all.
func (s *Standing) lag() int64 {
	if !s.follows() {
		return 0
	}
	return s.master.Number("master_repl_offset") - s.Pages.Number("slave_repl_offset")
}

// follows says that the replica gets what its master has.
func (s *Standing) follows() bool {
	return s.Pages.Role() == "slave" && s.Pages["master_link_status"] == "up" &&
		s.Pages.Number("master_sync_in_progress") == 0
}

// unsynced says why the replica is not proved to have what the master had, if it is not.
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
