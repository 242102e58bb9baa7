package serve

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner/listing"
)

// TestUnlisted: held locks may be missing if a majority of the nodes was not read whole, or one of what is read alone.
func TestUnlisted(t *testing.T) {
	of := func(sources int, cut ...error) part {
		p := part{sources: sources, Listing: listing.Listing{Started: time.Unix(1763700000, 0)}}
		for _, err := range cut {
			p.Nodes = append(p.Nodes, listing.Node{Truncated: err != nil, Err: err})
		}
		return p
	}
	denied := errors.New("NOPERM")
	for name, c := range map[string]struct {
		part part
		want string
	}{
		"whole":                    {of(3, nil, nil, nil), ""},
		"one of three":             {of(3, denied, nil, nil), ""},
		"two of three":             {of(3, denied, denied, nil), "not all locks were listed: NOPERM"},
		"a single server":          {of(1, denied), "not all locks were listed: NOPERM"},
		"one master of a cluster":  {of(1, nil, denied, nil), "not all locks were listed: NOPERM"},
		"a system beside Redis":    {of(0, denied), "not all locks were listed: NOPERM"},
		"before the first listing": {part{}, "not been read yet"},
	} {
		err := unlisted([]part{c.part})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestServeSaysWhatItCannotList: the user may find keys, and read no lock. An empty page would say that nobody holds one.
func TestServeSaysWhatItCannotList(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	cmdtest.Must(t, c.Do(t.Context(), "ACL", "SETUSER", "few", "on", ">pw", "~*", "+ping", "+hello", "+info", "+scan", "+client").Err())
	cmdtest.Set(t, c, "lock:order", "x", time.Hour)
	url, _ := serving(t, "--redis", "redis://few:pw@"+s.Addr())
	cmdtest.Eventually(t, "it says that locks may be missing", func() bool {
		doc := stateOf(t, url)
		return len(doc.Held) == 0 && strings.Contains(doc.Unread, "not all locks were listed: ")
	})
}
