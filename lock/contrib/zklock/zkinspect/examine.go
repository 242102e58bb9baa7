package zkinspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// facts are those of an ensemble.
type facts struct {
	Servers []server      // the given ones
	Voters  int           // as the ensemble's own configuration has them; 0 if it may not be read
	Session error         // why there is none
	Granted time.Duration // of the session that was asked for
	Rights  error
}

type server struct {
	Address string
	Err     error
	Mode    string // leader, follower, observer, standalone; "" if unknown
	Silent  bool   // srvr is not one of the commands that it answers
	Version string
}

// Examine implements inspect.Inspector. A session comes and goes, and the right to create is tried in a transaction that
// cannot succeed.
func (b *Inspector) Examine(ctx context.Context, maxTTL time.Duration) inspect.Examination {
	e := inspect.Examination{}
	b.session = zklock.SessionFor(maxTTL)
	f := ask(ctx, b)
	for _, s := range f.Servers {
		e.Nodes = append(e.Nodes, inspect.Node{Node: s.Address, Err: s.Err, Version: s.Version, Role: s.Mode})
		e.Add("connection", s.Address, checkServer(s, f))
	}
	e.Add("quorum", "", checkQuorum(f))
	e.Add("nodes", "", checkSize(f))
	if e.Answers = f.Session == nil; e.Answers {
		e.Add("session", "", checkSession(f, b.session))
		e.Add("rights", "", checkRights(f, b.root))
	}
	return e
}

func ask(ctx context.Context, b *Inspector) facts {
	f := facts{Servers: make([]server, len(b.servers))}
	var asking sync.WaitGroup
	for i, address := range b.servers {
		asking.Go(func() { f.Servers[i] = askServer(ctx, address) })
	}
	f.Session = b.connect(ctx)
	asking.Wait()
	if f.Session != nil {
		return f
	}
	f.Granted = b.granted()
	ctx, cancel := context.WithTimeout(ctx, 2*inspect.ReachTimeout)
	defer cancel()
	config, err := store.InTime(ctx, func() ([]byte, error) { text, _, err := b.conn.Get("/zookeeper/config"); return text, err })
	if err == nil {
		f.Voters = strings.Count(string(config), ":participant")
	}
	_, f.Rights = store.InTime(ctx, func() (any, error) { return nil, mayCreate(b) })
	return f
}

// mayCreate asks for a node and, in the same transaction, for something impossible.
func mayCreate(b *Inspector) error {
	at := b.root
	for ; at != "/"; at = path.Dir(at) {
		if there, _, err := b.conn.Exists(at); err != nil || there {
			break
		}
	}
	name := path.Join(at, "lockscope-doctor")
	answers, err := b.conn.Multi(&zk.CreateRequest{Path: name, Acl: zk.WorldACL(zk.PermAll), Flags: zk.FlagEphemeral},
		&zk.CheckVersionRequest{Path: name + "-none", Version: 0})
	for _, a := range answers {
		if errors.Is(a.Error, zk.ErrNoAuth) {
			err = a.Error
		}
	}
	if errors.Is(err, zk.ErrNoAuth) || errors.Is(err, zk.ErrConnectionClosed) {
		return err
	}
	if there, _, err := b.conn.Exists(at); there || err != nil {
		_, _, err = b.conn.Children(at)
		return err
	}
	return nil
}

// askServer asks one server for itself, by the words that ZooKeeper answers without a session.
func askServer(ctx context.Context, address string) server {
	s := server{Address: address}
	ctx, cancel := context.WithTimeout(ctx, inspect.ReachTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		s.Err = err
		return s
	}
	defer func() { _ = conn.Close() }()
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	if _, s.Err = io.WriteString(conn, "srvr"); s.Err != nil {
		return s
	}
	text, err := io.ReadAll(io.LimitReader(conn, 64<<10))
	if err != nil && len(text) == 0 {
		s.Err = err
		return s
	}
	s.read(string(text))
	return s
}

func (s *server) read(text string) {
	for line := range strings.Lines(text) {
		if mode, ok := strings.CutPrefix(line, "Mode: "); ok {
			s.Mode = strings.TrimSpace(mode)
		}
		if version, ok := strings.CutPrefix(line, "Zookeeper version: "); ok {
			version, _, _ = strings.Cut(version, ",")
			s.Version, _, _ = strings.Cut(version, "-")
		}
	}
	switch {
	case strings.Contains(text, "not in the whitelist"):
		s.Silent = true
	case s.Mode == "" && strings.Contains(text, "not currently serving"):
		s.Err = errors.New("it does not serve: it is not part of a majority")
	case s.Mode == "":
		s.Err = errors.New("it answers, but not as ZooKeeper does")
	}
}

func checkServer(s server, f facts) inspect.Result {
	switch {
	case s.Err != nil && f.Session == nil:
		return inspect.Warned(s.Err.Error(), "locks still work: repair it before another one fails")
	case s.Err != nil:
		return inspect.Failed(s.Err.Error(), inspect.ReachAdvice)
	case s.Silent:
		return inspect.Warned("reached; its role is unknown",
			"set 4lw.commands.whitelist=srvr in zoo.cfg to see its role; locks do not need it")
	}
	return inspect.Passed(s.Mode + ", " + s.Version)
}

func checkQuorum(f facts) inspect.Result {
	alone := 0
	for _, s := range f.Servers {
		if s.Mode == "standalone" {
			alone++
		}
	}
	switch {
	case alone > 0 && len(f.Servers) > 1:
		return inspect.Failed(fmt.Sprintf("%d of these servers are not part of an ensemble", alone),
			"two processes could each get the lock from one of them: give servers of one ensemble")
	case f.Session != nil:
		return inspect.Failed(f.Session.Error(), "nobody can take a lock now; see the connection check")
	}
	return inspect.Passed("a session was granted, which takes a majority")
}

func checkSize(f facts) inspect.Result {
	n, detail := f.Voters, fmt.Sprintf("%d servers vote, %d given", f.Voters, len(f.Servers))
	if n == 0 {
		n = len(f.Servers)
		detail = fmt.Sprintf("%d servers given; how many vote is unknown", n)
	}
	if few, ok := inspect.FewVoters(n, "server", detail); !ok {
		return few
	}
	return inspect.Passed(fmt.Sprintf("%s: %d may fail", detail, n-n/2-1))
}

func checkSession(f facts, asked time.Duration) inspect.Result {
	detail := fmt.Sprintf("the servers grant sessions of %v for the requested %v", f.Granted, asked)
	switch {
	case f.Granted == 0:
		return inspect.Warned("the length of sessions is unknown", "see the quorum check")
	case f.Granted < asked:
		return inspect.Failed(fmt.Sprintf("%s: TTLs above %v are refused", detail,
			zklock.LongestTTL(f.Granted).Truncate(time.Millisecond)),
			fmt.Sprintf(
				"set maxSessionTimeout=%d in zoo.cfg of all servers, or use a shorter lock.WithMaxTTL and --max-ttl",
				asked.Milliseconds()))
	case f.Granted > asked:
		return inspect.Warned(detail+": the locks of a dead process are kept for that long",
			"lower minSessionTimeout in zoo.cfg: these locks need less")
	}
	return inspect.Passed(detail)
}

func checkRights(f facts, root string) inspect.Result {
	switch {
	case errors.Is(f.Rights, zk.ErrNoAuth):
		return inspect.Failed("the user may not create or read below "+root,
			"set LOCKSCOPE_ZOOKEEPER_AUTH to the user:password of a user that may; in services use zklock.WithAuth")
	case f.Rights != nil:
		return inspect.Warned(f.Rights.Error(), "try again; locks need create, read, write and delete below "+root)
	}
	return inspect.Passed("the user may create and read below " + root)
}
