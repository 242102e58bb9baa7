package list

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/listing"
)

const (
	tokenA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	tokenB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func listValue(ttl time.Duration, head string) keyreader.Value {
	return keyreader.Value{Key: "lock:x", TTL: ttl, Type: keyreader.String, Size: int64(len(head)), Head: head}
}

func TestQuorumOfAListedLock(t *testing.T) {
	ours := func(ttl time.Duration, token, counter string) keyreader.Value {
		return listValue(ttl, token+":"+counter+"|host/1|1700000000000|")
	}
	none := keyreader.Value{Key: "lock:x", Type: keyreader.None, TTL: keyreader.Never}
	s := time.Second
	for name, test := range map[string]struct {
		looks  []keyreader.Value
		nodes  int
		split  bool
		ttl    time.Duration
		holder string
		silent int
	}{
		"all agree": {[]keyreader.Value{ours(5*s, tokenA, "7"), ours(4*s, tokenA, "7"),
			ours(3*s, tokenA, "7")}, 3, false, 4 * s, "host/1", 0},
		"counters differ": {[]keyreader.Value{ours(5*s, tokenA, "7"), ours(4*s, tokenA, "8"), none}, 2,
			false, 4 * s, "host/1", 0},
		"minority": {[]keyreader.Value{ours(5*s, tokenA, "7"), none, none}, 1, false, 0, "host/1",
			0},
		"split": {[]keyreader.Value{ours(5*s, tokenA, "7"), ours(9*s, tokenB, "7"),
			ours(4*s, tokenA, "7")}, 2, true, 4 * s, "host/1", 0},
		"one never expires": {[]keyreader.Value{ours(keyreader.Never, tokenA, "7"), ours(2*s, tokenA, "7"),
			ours(1*s, tokenA, "7")}, 3, false, 2 * s, "host/1", 0},
		"a quorum never does": {[]keyreader.Value{ours(keyreader.Never, tokenA, "7"),
			ours(keyreader.Never, tokenA, "7"), ours(1*s, tokenA, "7")}, 3, false, keyreader.Never, "host/1", 0},
		"another's on one": {[]keyreader.Value{listValue(s, "random"), listValue(2*s, "random"),
			listValue(3*s, "other!")}, 2, true, s, "", 0},
		"one server": {[]keyreader.Value{listValue(keyreader.Never, "random")}, 1, false,
			keyreader.Never, "", 0},
		"two of two needed": {[]keyreader.Value{ours(5*s, tokenA, "7"), ours(3*s, tokenA, "7")}, 2, false,
			3 * s, "host/1", 0},
		"other type elsewhere": {[]keyreader.Value{{Key: "lock:x", Type: "zset", TTL: s},
			ours(3*s, tokenA, "7"), ours(3*s, tokenA, "7")}, 2, true, 3 * s, "host/1", 0},
		"one of two, one is silent": {[]keyreader.Value{ours(5*s, tokenA, "7"), none}, 1, false, 5 * s, "host/1", 1},
		"one of three, two are silent": {[]keyreader.Value{ours(5*s, tokenA, "7"), none, none}, 1, false, 5 * s,
			"host/1", 2},
		"one of four, one is silent": {[]keyreader.Value{ours(5*s, tokenA, "7"), none, none, none}, 1, false, 0,
			"host/1", 1},
		"two of three, two are silent": {[]keyreader.Value{ours(5*s, tokenA, "7"), ours(3*s, tokenA, "7"), none}, 2,
			false, 5 * s, "host/1", 2},
	} {
		l, ok := newLock(test.looks, test.silent)
		if !ok || l.Nodes != test.nodes || l.Of != len(test.looks) || l.Split != test.split || l.TTL != test.ttl ||
			l.Held() != (l.TTL != 0) || l.Hold.Instance != test.holder {
			t.Errorf("%s: %+v", name, l)
		}
	}
	if _, ok := newLock([]keyreader.Value{none, none}, 1); ok {
		t.Error("a lock that nobody has was listed")
	}
}

// TestReadersWhoseTimeIsOver: readers whose time is over hold nothing, whether or not their key expires. A key that
// never expires is listed all the same.
func TestReadersWhoseTimeIsOver(t *testing.T) {
	reader := func(ttl, left time.Duration) keyreader.Value {
		return keyreader.Value{Key: "lock:x", Type: keyreader.Hash, Size: 1, TTL: ttl, Fields: [][2]string{{tokenA,
			fmt.Sprintf("%d:7|host/1|1700000000000||a.1|||read", time.Now().Add(left).UnixMilli())}}}
	}
	none := keyreader.Value{Key: "lock:x", Type: keyreader.None, TTL: keyreader.Never}
	over, live, stays := reader(keyreader.Never, -time.Hour), reader(time.Minute, time.Minute),
		reader(keyreader.Never, time.Minute)
	for name, test := range map[string]struct {
		looks []keyreader.Value
		nodes int
		held  bool
		last  time.Duration
	}{
		"live":                     {[]keyreader.Value{live, live, live}, 3, true, time.Minute},
		"one key never expires":    {[]keyreader.Value{live, live, stays}, 3, true, keyreader.Never},
		"over on all, key stays":   {[]keyreader.Value{over, over, over}, 0, false, keyreader.Never},
		"over on one, key stays":   {[]keyreader.Value{none, over, none}, 0, false, keyreader.Never},
		"live and over, key stays": {[]keyreader.Value{live, over, live}, 2, true, keyreader.Never},
	} {
		l, ok := newLock(test.looks, 0)
		if !ok || l.Nodes != test.nodes || l.Held() != test.held || l.LongestTTL != test.last ||
			l.Hold.Instance != "host/1" || l.Hold.Kind != "read" {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// TestLongestTTL: the last key to expire decides, also a leftover on a minority of the nodes.
func TestLongestTTL(t *testing.T) {
	none := keyreader.Value{Key: "lock:x", Type: keyreader.None, TTL: keyreader.Never}
	for want, looks := range map[time.Duration][]keyreader.Value{
		5 * time.Second: {listValue(2*time.Second, "x"), listValue(5*time.Second, "x"), none},
		3 * time.Second: {none, listValue(3*time.Second, "x"), none},
		keyreader.Never: {none, none, listValue(keyreader.Never, "x"), none},
	} {
		if l, ok := newLock(looks, 0); !ok || l.LongestTTL != want {
			t.Errorf("%+v, want %v", l, want)
		}
	}
}

// TestFenceOfAListedLock: the holder has the highest count of a quorum. Which nodes form that quorum is unknown.
func TestFenceOfAListedLock(t *testing.T) {
	for name, test := range map[string]struct {
		counts []string // by node; "" if the node does not have the lock
		silent int
		want   uint64
	}{
		"one node":                        {[]string{"7"}, 0, 7},
		"all agree":                       {[]string{"7", "7", "7"}, 0, 7},
		"the first granted too late":      {[]string{"9", "7", "7"}, 0, 7},
		"the last granted too late":       {[]string{"7", "7", "9"}, 0, 7},
		"one is behind":                   {[]string{"7", "5", "7"}, 0, 7},
		"one without it":                  {[]string{"9", "7", ""}, 0, 7},
		"one is silent":                   {[]string{"9", "7"}, 1, 7},
		"two of five granted too late":    {[]string{"9", "7", "8", "7", "7"}, 0, 7},
		"and one of the others is silent": {[]string{"9", "7", "8", "7"}, 1, 7},
		"and one more":                    {[]string{"9", "8", "7"}, 2, 7},
		"all differ":                      {[]string{"5", "6", "7", "8", "9"}, 0, 7},
	} {
		var looks []keyreader.Value
		for _, count := range test.counts {
			v := keyreader.Value{Key: "lock:x", Type: keyreader.None, TTL: keyreader.Never}
			if count != "" {
				v = listValue(time.Second, tokenA+":"+count+"|host/1|1700000000000|")
			}
			looks = append(looks, v)
		}
		if l, ok := newLock(looks, test.silent); !ok || l.Hold.Fence != test.want {
			t.Errorf("%s: fence %d, want %d", name, l.Hold.Fence, test.want)
		}
	}
}

func TestTopKeepsTheFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var all []listing.Lock
	for i := range 500 {
		l := listing.Lock{Key: "lock:" + string(rune('a'+i%26)) + time.Duration(i).String(),
			TTL: time.Duration(random.IntN(50)) - 1}
		l.Resource = l.Key[len("lock:"):]
		if i%3 > 0 {
			l.Hold.Since = time.Unix(int64(random.IntN(50)), 0)
		}
		all = append(all, l)
	}
	for _, order := range []listing.Order{listing.ByTTL, listing.ByAge, listing.ByResource} {
		for _, reverse := range []bool{false, true} {
			o := listing.Options{Order: order, Reverse: reverse}
			kept := newTop(o.Comparison(), 20)
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for _, l := range all {
				kept.offer(l)
			}
			got, omitted := kept.result()
			compare := o.Comparison()
			want := slices.Clone(all)
			slices.SortFunc(want, func(a, b listing.Lock) int { return compare(&a, &b) })
			if omitted != 480 || !slices.Equal(got, want[:20]) {
				t.Errorf("%s, reverse %v: %d omitted, kept %v, want %v", order, reverse, omitted, got, want[:20])
			}
		}
	}
}

// TestToldIsBounded: an entry that was dropped is read again, not lost.
func TestToldIsBounded(t *testing.T) {
	known := newKeySet(2)
	got := ""
	for _, key := range []string{"a", "b", "a", "c", "b", "c"} {
		if known.add(key) {
			got += key
		}
	}
	if got != "abcc" || len(known.keys) != 2 {
		t.Errorf("known %s, want abcc; remembers %d", got, len(known.keys))
	}
}

// TestReadersOfAListedLock: a quorum of nodes decides for each reader. A writer's value on one node is a split.
func TestReadersOfAListedLock(t *testing.T) {
	ends := time.Now().Add(9 * time.Second).UnixMilli()
	reader := func(token string) [2]string {
		return [2]string{token, fmt.Sprintf("%d:7|%c/1|1700000000000||n|||read", ends, token[0])}
	}
	hash := func(fields ...[2]string) keyreader.Value {
		return keyreader.Value{Key: "lock:x", TTL: 9 * time.Second, Type: keyreader.Hash, Size: int64(len(fields)),
			Fields: fields}
	}
	both := hash(reader(tokenA), reader(tokenB))
	none := keyreader.Value{Key: "lock:x", Type: keyreader.None, TTL: keyreader.Never}
	writer := listValue(time.Second, tokenB+":8|b/1|1700000000000||n|||write")
	for name, test := range map[string]struct {
		looks []keyreader.Value
		count int
		split bool
	}{
		"two":                           {[]keyreader.Value{both, hash(reader(tokenA)), hash(reader(tokenB))}, 2, false},
		"and a leftover":                {[]keyreader.Value{hash(reader(tokenA)), both, none}, 1, false},
		"and a writer's vote":           {[]keyreader.Value{hash(reader(tokenA)), hash(reader(tokenA)), writer}, 1, true},
		"a writer, and a reader's vote": {[]keyreader.Value{hash(reader(tokenA)), writer, writer}, 0, true},
		"too many to be read": {[]keyreader.Value{{Key: "lock:x", TTL: time.Second, Type: keyreader.Hash, Size: 40}}, 40,
			false},
		"a hash that never expires": {[]keyreader.Value{{Key: "lock:x", TTL: keyreader.Never, Type: keyreader.Hash,
			Size: 40}}, 0, false},
	} {
		l, ok := newLock(test.looks, 0)
		count := 0
		if l.Readers != nil {
			count = l.Readers.Count
		}
		if !ok || count != test.count || l.Split != test.split {
			t.Errorf("%s: %d readers, %+v", name, count, l)
		}
	}
}
