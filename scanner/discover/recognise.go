package discover

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// clue is why a key is taken for a library's lock.
type clue struct {
	library    Library
	pattern    string // empty: it is made of the names of the keys
	confidence Confidence
	evidence   string
	lasting    bool      // its library sets no TTL by design
	since      time.Time // when the lock was taken, if the value tells; else zero
}

// entry is a key with what surrounds it.
type entry struct {
	*keyreader.Value
	fair    bool // there is a queue of waiters for it: see companions
	permits bool // there is a sorted set of its permits
}

func (e *entry) text() bool { return e.Type == keyreader.String && e.Size <= keyreader.HeadSize }

// recogniser detects one form. The first match wins, so unambiguous forms come first.
type recogniser func(e *entry) (clue, bool)

// allRecognisers are made once: there are dozens of them for each key.
var allRecognisers = recognisers()

func recognisers() []recogniser {
	all := []recogniser{lockscopeValue, shedLockValue, redissonHash, redissonPermits, bullLock, sidekiqLocked,
		hangfireLock, celerySingleton, rubySemaphore, nonceHash}
	for _, f := range slices.Concat(jobForms(), nameForms(), valueForms()) {
		all = append(all, f.recognise)
	}
	return append(all, pythonRedisLock, redsyncToken, hexToken, uuidToken, laravelOwner, alphanumericToken,
		redislockToken, twentyBytes, constant)
}

func recognise(e *entry) (clue, bool) {
	if isBeside(e) {
		return clue{}, false
	}
	for _, r := range allRecognisers {
		if c, ok := r(e); ok && (c.confidence > Low || !namesOther(e.Key)) {
			return c, true
		}
	}
	return clue{}, false
}

const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

var (
	uuidOnly    = regexp.MustCompile(`^` + uuid + `$`)
	shedLock    = regexp.MustCompile(`^ADDED:(\d{4}-\d{2}-\d{2}T[0-9:.]+Z)@`)
	shedLockKey = regexp.MustCompile(`^(job-lock:[^:]+:)`)
	redissonID  = regexp.MustCompile(`^.+:\d{1,20}(:write)?$`)
	hexOnly     = regexp.MustCompile(`^[0-9a-f]{32}$`)
	saysNothing = regexp.MustCompile(`^(|\d{1,19}(\.\d{1,9})?|(?i:true|yes|ok|on|lock|locked|taken|x|null))$`)
)

// lockscopeValue: token:counter|holder|..., as package redlock writes it.
func lockscopeValue(e *entry) (clue, bool) {
	if e.Type != keyreader.String {
		return clue{}, false
	}
	_, _, ok := redlock.ParseValue(e.Head)
	return clue{library: Lockscope, confidence: High, evidence: "the value has lockscope's token, counter and holder"},
		ok
}

// shedLockValue: "ADDED:%s@%s" of time and host, keys "job-lock:<environment>:<name>" by default. Newer versions add
// :<uuid>. lukas-krecan/ShedLock, providers/redis/.../RedisLockProvider.java: buildValue, buildKey, KEY_PREFIX.
func shedLockValue(e *entry) (clue, bool) {
	value := shedLock.FindStringSubmatch(e.Head)
	if !e.text() || value == nil {
		return clue{}, false
	}
	c := clue{library: ShedLock, confidence: High, evidence: "the value is ADDED, a time and a host"}
	c.since, _ = time.Parse(time.RFC3339Nano, value[1]) // zero if it is none
	if m := shedLockKey.FindStringSubmatch(e.Key); m != nil {
		c.pattern = scanner.PrefixPattern(m[1])
	}
	return c, true
}

// redissonHash: a hash of <uuid>:<thread> to the number of entries; "mode" read or write for a read-write lock, whose
// write locks end in :write; a fair lock has redisson_lock_queue:{name} beside it while somebody waits.
// redisson/redisson, org/redisson/{RedissonLock,RedissonReadLock,RedissonWriteLock,RedissonFairLock}.java.
func redissonHash(e *entry) (clue, bool) {
	if e.Type != keyreader.Hash || len(e.Fields) == 0 {
		return clue{}, false
	}
	mode := false
	for _, f := range e.Fields {
		if f[0] == "mode" && (f[1] == "read" || f[1] == "write") {
			mode = true
			continue
		}
		if !redissonID.MatchString(f[0]) || !saysNothing.MatchString(f[1]) {
			return clue{}, false
		}
	}
	switch {
	case mode:
		return clue{library: RedissonRW, confidence: High,
			evidence: "a hash from client and thread to a count, with a mode field"}, true
	case e.fair:
		return clue{library: RedissonFair, confidence: High,
			evidence: "a hash from client and thread to a count, with a redisson_lock_queue beside it"}, true
	}
	return clue{library: Redisson, confidence: High, evidence: "a hash from client and thread to a count"}, true
}

// redissonPermits: a number, and, of semaphores whose permits expire, a sorted set {name}:timeout of the permits that
// are out. A plain semaphore is the number alone, which anything may be.
// redisson/redisson, org/redisson/{RedissonSemaphore,RedissonPermitExpirableSemaphore}.java: suffixName(name,
// "timeout").
func redissonPermits(e *entry) (clue, bool) {
	c := clue{library: RedissonSemaphore}
	if !e.text() || e.Head == "" || strings.Trim(e.Head, "0123456789") != "" {
		return c, false
	}
	switch {
	case e.permits:
		c.confidence, c.lasting, c.evidence = High, true, "a number, with its permits in the sorted set {name}:timeout"
	case e.TTL == keyreader.Never && strings.Contains(strings.ToLower(e.Key), "semaphore"):
		c.confidence, c.evidence = Low, "a number without a TTL, and the name contains semaphore"
	}
	return c, c.confidence > 0
}

// constant: SETNX with a value that does not name a holder: 1, true, a time.
func constant(e *entry) (clue, bool) {
	if !e.text() || !namesLock(e.Key) {
		return clue{}, false
	}
	if saysNothing.MatchString(e.Head) {
		return clue{library: SetNX, confidence: Medium,
			evidence: "the name suggests a lock; the value is a constant or a number, so holders look alike"}, true
	}
	return clue{library: SetNX, confidence: Low,
		evidence: "the name suggests a lock; the value has no known form"}, true
}

// likely reports whether a key with a random value may be a lock: it expires, or its name suggests one. Most libraries
// write no token without a TTL, and most other random values have none.
func likely(e *entry) bool { return e.TTL != keyreader.Never || namesLock(e.Key) }

// byName returns the best confidence if the name suggests a lock, and low otherwise: caches and sessions have random
// values, too.
func byName(e *entry, l Library, evidence string, best Confidence) clue {
	if namesLock(e.Key) {
		return clue{library: l, confidence: best, evidence: evidence + ", and the name suggests a lock"}
	}
	return clue{library: l, confidence: Low, evidence: evidence}
}
