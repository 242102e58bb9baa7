package discover

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestSlotsAreNoPattern: slots of a semaphore are no reason for a pattern of their own.
func TestSlotsAreNoPattern(t *testing.T) {
	for _, c := range []struct {
		want string
		keys []string
	}{
		{"lock:*", []string{"lock:exports#0", "lock:exports#1", "lock:exports#4"}},
		{"lock:*", []string{"lock:exports#0", "lock:exports#1", "lock:mails"}},
		{"exports#*", []string{"exports#0", "exports#1"}},
		{"ticket#*", []string{"ticket#1001", "ticket#1002"}},
		{"order:*", []string{"order:1", "order:2"}},
	} {
		if got := patternOf(c.keys); got != c.want {
			t.Errorf("%q: %s, want %s", c.keys, got, c.want)
		}
	}
}

// TestPatternsKeepWhatSaysLock: a pattern of few keys matches no others, and keeps the part of a name that says lock.
func TestPatternsKeepWhatSaysLock(t *testing.T) {
	many := func(format string, n int) (keys []string) {
		for i := range n {
			keys = append(keys, fmt.Sprintf(format, i))
		}
		return keys
	}
	for _, c := range []struct {
		keys, others []string
		want         string
	}{
		{[]string{"my-dl-lock"}, nil, `my\-dl\-lock`},
		{[]string{"mylock-1"}, nil, `mylock\-*`},
		{[]string{"mylock-a"}, []string{"mylock-readers"}, `mylock\-a`},
		{[]string{"mylock-a", "mylock-b"}, []string{"mylock-readers"}, `mylock\-*`},
		{[]string{"{hangfire}:lock:recurring-job:a"}, nil, `{hangfire}:lock:recurring\-job:*`},
		{[]string{"{hangfire}:Report.Run"}, []string{"{hangfire}:schedule"}, "{hangfire}:Report.*"},
		{[]string{"shop:order:1001:lock"}, nil, "shop:order:*:lock"},
		{[]string{"shop:" + aUUID + ":ship_lock"}, nil, "shop:*:ship_lock"},
		{[]string{"shop:order:1:lock", "shop:order:2:lock"}, nil, "shop:order:*:lock"},
		{many("shop:name%d-lock", 40), []string{"shop:cart"}, `shop:*\-lock`},
		{[]string{"shop:stock-lock:1", "shop:order-lock:a", "shop:order-lock:b"}, nil,
			`shop:order\-lock:* shop:stock\-lock:*`},
		{[]string{"order:7"}, nil, "order:*"},
		{[]string{"order:7"}, []string{"order:7:items"}, "order:7"},
		{many("order:%d", 40), []string{"order:7:items"}, "order:* beside 1"},
		{many("order:%d", 40), []string{"stock:7"}, "order:*"},
	} {
		keys, strangers := make([]seen, len(c.keys)), make(map[string]bool)
		for i, key := range c.keys {
			keys[i].key = key
		}
		for _, key := range c.others {
			strangers[key] = true
		}
		var got []string
		for _, f := range divide("Redisson lock", keys, strangers) {
			text := f.Pattern
			if f.Others > 0 {
				text += fmt.Sprint(" beside ", f.Others)
			}
			got = append(got, text)
		}
		slices.Sort(got) // their order is that of a map
		if strings.Join(got, " ") != c.want {
			t.Errorf("%.60q: %q, want %q", c.keys, got, c.want)
		}
	}
}

const aUUID = "8743c9c0-0795-4907-87fd-6c719a6b4586"
