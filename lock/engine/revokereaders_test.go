package engine

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// node is the revokeAnswer of one that has these readers, each with so many seconds left: a2 is reader a with two. A grant
// with ! is marked; one of no seconds is not there.
func node(name string, readers ...string) revokeAnswer {
	n := revokeAnswer{Node: name, Answered: true, At: time.Unix(100, 0)}
	for _, text := range readers {
		grant, marked := text[:1], strings.HasSuffix(text, "!")
		r := driver.RevokeReader{Grant: grant, TTL: time.Duration(text[1]-'0') * time.Second, Counter: 7,
			Holder: "host-" + grant + "|1|"}
		r.Held = r.TTL > 0
		if marked {
			r.Record = "ops|1|why"
		}
		n.Reply.Held, n.Reply.ByReaders = true, true
		n.Reply.Readers = append(n.Reply.Readers, r)
	}
	return n
}

func down(name string) revokeAnswer {
	return revokeAnswer{Node: name, Answered: true, Err: driver.ErrUnreachable}
}

func of(grants string) (all readers) {
	for _, g := range grants {
		all = append(all, reader{grant: string(g)})
	}
	return all
}

// TestReadersThatAreSelected: any node may name one, and a majority has to answer.
func TestReadersThatAreSelected(t *testing.T) {
	alone := node("r1")
	alone.Reply = driver.RevokeReply{Held: true, Grant: "w"}
	silent := node("r1")
	silent.Reply = driver.RevokeReply{Held: true, ByReaders: true}
	unable := revokeAnswer{Node: "r1", Answered: true, Err: errors.ErrUnsupported}
	for name, c := range map[string]struct {
		nodes    []revokeAnswer
		instance string
		want     string
		err      error
		text     string
	}{
		"two on all": {
			[]revokeAnswer{node("r1", "a2", "b3"), node("r2", "b3", "a2"), node("r3", "a2", "b3")}, "", "ab", nil, "",
		},
		"each on one":  {[]revokeAnswer{node("r1", "a2"), node("r2", "b3"), down("r3")}, "", "ab", nil, ""},
		"one instance": {[]revokeAnswer{node("r1", "a2", "b3"), node("r2"), node("r3")}, "host-b", "b", nil, ""},
		"nobody of this instance": {
			[]revokeAnswer{node("r1", "a2"), node("r2"), node("r3")}, "host-b", "", lock.ErrNotHeld, `instance "host-b"`,
		},
		"nobody":                 {[]revokeAnswer{node("r1"), node("r2"), down("r3")}, "", "", lock.ErrNotHeld, "nobody reads it"},
		"a writer":               {[]revokeAnswer{alone, alone, node("r3")}, "", "", lock.ErrNotHeld, "its one holder"},
		"a minority answers":     {[]revokeAnswer{node("r1", "a2"), down("r2"), down("r3")}, "", "", lock.ErrNoQuorum, "1 of 3"},
		"nodes that name nobody": {[]revokeAnswer{silent, silent, silent}, "", "", errors.ErrUnsupported, "lockscope list"},
		"nodes that cannot":      {[]revokeAnswer{unable, unable, unable}, "", "", errors.ErrUnsupported, "lockscope list"},
	} {
		a := revokeAnswers{nodes: c.nodes, quorum: 2, began: time.Unix(99, 0)}
		got, err := a.readers("job", c.instance)
		if grants := strings.Join(got.grants(), ""); grants != c.want || !errors.Is(err, c.err) ||
			err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %q, %v", name, grants, err)
		}
	}
	a := revokeAnswers{nodes: []revokeAnswer{node("r1", "a2"), node("r2", "a3", "b4"), node("r3", "a4")}, quorum: 2}
	got, err := a.readers("job", "")
	if err != nil || !got[0].seen.Held || got[1].seen.Held || got[0].seen.Fence != 7 || got[0].seen.Resource != "job" ||
		!got[0].seen.NotAfter.Equal(time.Unix(103, 0)) || !got[1].seen.NotAfter.Equal(time.Unix(104, 0)) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestReadersPromise: the time is taken per node, from the reader that lasts longest there.
func TestReadersPromise(t *testing.T) {
	up, away := func(readers ...string) revokeAnswer { return node("r1", readers...) }, down("r2")
	for name, c := range map[string]struct {
		nodes   []revokeAnswer
		free    time.Duration
		marked  int
		revoked int
		err     error
	}{
		"alike": {[]revokeAnswer{up("a2!", "b3!"), up("a2!", "b3!"), up("a2!", "b3!")}, 3, 3, 2, nil},
		"longest on different nodes": {
			[]revokeAnswer{up("a9!", "b1!"), up("a1!", "b9!"), up("a1!", "b1!")}, 9, 3, 2, nil,
		},
		"one is down":             {[]revokeAnswer{up("a2!", "b0!"), up("a4!", "b0!"), away}, 4, 2, 1, nil},
		"others last longer":      {[]revokeAnswer{up("a2!", "b0!", "c9"), up("a2!", "b0!", "c9"), away}, 2, 2, 1, nil},
		"one marked one of two":   {[]revokeAnswer{up("a2!", "b2"), up("a4!", "b2!"), away}, 0, 1, 0, lock.ErrNoQuorum},
		"a minority was marked":   {[]revokeAnswer{up("a2!", "b2!"), away, away}, 0, 1, 0, lock.ErrNoQuorum},
		"all have released it":    {[]revokeAnswer{up("a0!", "b0!"), up("a0!", "b0!"), away}, 0, 2, 0, lock.ErrNotHeld},
		"nodes that do not mark":  {[]revokeAnswer{up("a2", "b2"), up("a2", "b2"), up("a2", "b2")}, 0, 0, 0, lock.ErrNoQuorum},
		"a node that has no more": {[]revokeAnswer{up("a3!", "b3!"), up("a0!", "b0!"), up("a4!", "b2!")}, 3, 3, 2, nil},
	} {
		r, err := revokeAnswers{nodes: c.nodes, quorum: 2}.ofReaders("job", of("ab"), "ops|1|why")
		if r.FreeIn != c.free*time.Second || r.Marked != c.marked || len(r.Holders) != c.revoked || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// TestReadersKeepTheFirstMark, also where one node alone has it.
func TestReadersKeepTheFirstMark(t *testing.T) {
	nodes := []revokeAnswer{node("r1", "a2!", "b2!"), node("r2", "a2!", "b2!"), node("r3", "a2!", "b2!")}
	nodes[1].Reply.Readers[0].Record = "before|5|else"
	r, err := revokeAnswers{nodes: nodes, quorum: 2}.ofReaders("job", of("ab"), "ops|1|why")
	again := slices.IndexFunc(r.Holders, func(one Revoked) bool { return one.Again })
	if err != nil || again != 0 || r.Holders[0].Mark.By != "before" || r.Holders[1].Again ||
		r.Holders[1].Mark.By != "ops" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestReaderWithoutAnEnd: nobody can say when it keeps no writer out, unless a quorum is free of it.
func TestReaderWithoutAnEnd(t *testing.T) {
	endless := node("r1", "a2!", "b3!")
	endless.Reply.Readers[0].TTL = -1
	for name, c := range map[string]struct {
		nodes []revokeAnswer
		free  time.Duration
	}{
		"on one":      {[]revokeAnswer{endless, node("r2", "a2!", "b3!"), node("r3", "a2!", "b4!")}, 4 * time.Second},
		"on a quorum": {[]revokeAnswer{endless, node("r2", "a2!", "b3!"), endless}, math.MaxInt64},
	} {
		r, err := revokeAnswers{nodes: c.nodes, quorum: 2}.ofReaders("job", of("ab"), "ops|1|why")
		if err != nil || r.FreeIn != c.free {
			t.Errorf("%s: %v, %v", name, r.FreeIn, err)
		}
	}
}
