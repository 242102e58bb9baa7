package guard

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

func infoOf(runID string, more ...string) string {
	return fmt.Sprintf("run_id:%s\r\nrole:master\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n%s\r\n", runID,
		strings.Join(more, "\r\n"))
}

// TestJudge: what a service would find with its first question, of the third of three nodes. The others vote.
func TestJudge(t *testing.T) {
	ours := NewFingerprint([]string{"a", "b", "c"}, time.Minute)
	now := time.UnixMilli(1763700000000)
	votes := func(id string) Account { return Account{Info: infoOf(id), Marker: votingMarker(ours, id, 0)} }
	quarantine := func(since time.Duration) string {
		began := now.Add(-since).UnixMilli()
		return fmt.Sprintf("%s|%s|3|0|id|61000|%d|%d", Quarantined, ours, began, began)
	}
	barred := func(err error) Standing { return Standing{Known: true, Err: err} }
	waits := Standing{Known: true, Quarantined: true}
	for name, c := range map[string]struct {
		account Account
		want    Standing // Err is what it wraps
	}{
		"votes":             {votes("3"), Standing{Known: true}},
		"says nothing":      {Account{}, Standing{}},
		"marker is refused": {Account{Info: infoOf("3"), Err: errors.New("NOPERM")}, Standing{}},
		"restarted":         {Account{Info: infoOf("new"), Marker: votes("3").Marker}, waits},
		"wiped":             {Account{Info: infoOf("3")}, waits},
		"evicted since":     {Account{Info: infoOf("3", "evicted_keys:2"), Marker: votes("3").Marker}, waits},
		"verified since":    {Account{Info: infoOf("3", "evicted_keys:2"), Marker: votes("3+2").Marker}, Standing{Known: true}},
		"copied":            {Account{Info: infoOf("3"), Marker: votes("3").Marker, DB: 1}, waits},
		"replica, marker refused": {Account{Info: strings.Replace(infoOf("3"), "master", "slave", 1), Err: errors.New("NOPERM")},
			barred(driver.ErrReplica)},
		"replica":               {Account{Info: strings.Replace(infoOf("3"), "master", "slave", 1)}, barred(driver.ErrReplica)},
		"evicting":              {Account{Info: infoOf("3", "maxmemory:1", "maxmemory_policy:allkeys-lru")}, barred(driver.ErrEvicting)},
		"out of memory":         {Account{Info: infoOf("3", "maxmemory:10", "used_memory:11")}, barred(errFull)},
		"a proxy":               {Account{Info: "role:master\r\nmaxmemory_policy:noeviction\r\n"}, barred(driver.ErrUnexamined)},
		"with its own identity": {Account{Info: "role:master\r\nmaxmemory_policy:noeviction\r\n", Marker: votes("mark-x").Marker}, Standing{Known: true}},
		"other configuration": {Account{Info: infoOf("3"), Marker: votingMarker("3:1:x", "3", 0)},
			barred(ErrOtherConfiguration)},
		"change": {Account{Info: infoOf("3"), Marker: fmt.Sprintf("%s|%s|x|0|change-1|60000|1|1|%s", Changing, ours, ours)},
			barred(errUnfinished)},
		"in quarantine": {Account{Info: infoOf("3"), Marker: quarantine(time.Second)},
			Standing{Known: true, Quarantined: true, Begun: true, Left: time.Minute}},
		"its quarantine is over": {Account{Info: infoOf("3"), Marker: quarantine(time.Hour)},
			Standing{Known: true, Begun: true}},
	} {
		got := Judge([]Account{votes("1"), votes("2"), c.account}, Config{}, now)
		if !errors.Is(got[2].Err, c.want.Err) || got[2].Votes() != (c.want.Err == nil && !c.want.Quarantined) {
			t.Errorf("%s: %+v", name, got[2])
		}
		if got[2].Err, c.want.Err = nil, nil; got[2] != c.want {
			t.Errorf("%s: %+v, want %+v", name, got[2], c.want)
		}
		if one := (Standing{Known: true}); got[0] != one || got[1] != one {
			t.Errorf("%s: the others are %+v", name, got[:2])
		}
	}
}

// TestJudgeWithoutVotes: markers count where services write them, in a set that is large enough, whoever has restarted.
func TestJudgeWithoutVotes(t *testing.T) {
	marker := votingMarker("3:1:a", "before", 0)
	for name, c := range map[string]struct {
		markers []string
		want    bool
	}{
		"none":                {[]string{"", "", ""}, true},
		"all have restarted":  {[]string{marker, marker, marker}, false},
		"one has its data":    {[]string{"", "", marker}, false},
		"two nodes":           {[]string{marker, marker}, true},
		"not a marker at all": {[]string{"x", "y", "z"}, true},
	} {
		var set []Account
		for i, m := range c.markers {
			set = append(set, Account{Info: infoOf(fmt.Sprint(i)), Marker: m})
		}
		for _, s := range Judge(set, Config{}, time.Now()) {
			if s.Votes() != c.want || s.Quarantined == c.want {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// TestJudgeAfterAChangeToFewNodes: they wait for the leases of the set that they replaced, also after a restart.
func TestJudgeAfterAChangeToFewNodes(t *testing.T) {
	now := time.UnixMilli(1763700000000)
	for marker, want := range map[string]Standing{
		"quarantine|1:60000:a|id|0|change-x.1|61000|0|0":                         {Known: true, Quarantined: true, Begun: true, Left: 61 * time.Second},
		"quarantine|1:60000:a|before|0|change-x.1|61000|0|0":                     {Known: true, Quarantined: true},
		"quarantine|1:60000:a|id|0|change-x.1|61000|1763600000000|1763600000000": {Known: true, Begun: true},
		"quarantine|1:60000:a|id|0|x.1|61000|0|0":                                {Known: true},
		"quarantine|2:60000:a|id|0|change-x.1|61000|0|0":                         {Known: true}, // of another set than this
		"voting|1:60000:a|id|0":                                                  {Known: true},
		"changing|2:60000:a|id|0|change-x.1|61000|0|0|1:60000:a":                 {Known: true},
	} {
		if got := Judge([]Account{{Info: infoOf("id"), Marker: marker}}, Config{}, now)[0]; got != want {
			t.Errorf("%s: %+v, want %+v", marker, got, want)
		}
	}
}

// TestJudgeOfANodeThatLeft: a view that still names the old nodes learns who replaced them. Nothing is left to finish.
func TestJudgeOfANodeThatLeft(t *testing.T) {
	c := newChangeSet(t)
	c.want(c.run(c.grow()), nil)
	c.want(c.run(c.shrink()), nil)
	accounts := make([]Account, 5)
	for i, s := range c.servers {
		if i < 2 {
			s.marker = votingMarker(ours, s.runID, 0)
		}
		accounts[i] = Account{Info: infoOf(s.runID), Marker: s.marker}
	}
	for name, set := range map[string][]Account{"all": accounts, "none that voted": accounts[2:]} {
		standings := Judge(set, Config{}, time.Now())
		for _, s := range standings[len(set)-2:] {
			if s.Votes() || s.Quarantined || errors.Is(s.Err, driver.ErrQuarantined) || !strings.Contains(s.Err.Error(),
				"it left its set by a change to "+ours.String()) {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// TestJudgeAsServicesDo: what the guards of the services accept is held against no node.
func TestJudgeAsServicesDo(t *testing.T) {
	evicts := []string{"maxmemory:1000", "maxmemory_policy:allkeys-lru", "evicted_keys:2"}
	silent := strings.ReplaceAll(infoOf("1"), "maxmemory_policy", "other")
	for name, c := range map[string]struct {
		info     string
		services Config
	}{
		"evicts":             {infoOf("1", evicts...), Config{EvictionOK: true}},
		"reports no policy":  {silent, Config{NoEviction: true}},
		"behind a proxy":     {"redis_version:7", Config{Off: true}},
		"replica, not asked": {strings.Replace(infoOf("1"), "master", "slave", 1), Config{Off: true}},
	} {
		set := make([]Account, EnforcedFrom)
		for i := range set {
			set[i] = Account{Info: c.info, Marker: votingMarker("3:1:a", "1", 0)}
		}
		if barred := Judge(set, Config{}, time.Now())[0]; barred.Votes() {
			t.Errorf("%s: a guard without options accepts it: %+v", name, barred)
		}
		if got := Judge(set, c.services, time.Now())[0]; !got.Votes() {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
