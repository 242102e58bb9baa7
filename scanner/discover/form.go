package discover

import (
	"regexp"
	"strings"

	"github.com/lockscope/lockscope/scanner"
)

// form is a string that a library keeps under a name of its own.
type form struct {
	library Library
	// key matches the name. Its first group is the prefix that the names of this library's locks share; without a
	// group, the pattern is made of the names that were seen.
	key      *regexp.Regexp
	value    func(string) bool
	evidence string
	pattern  string // instead of the prefix
	lasting  bool   // it has no TTL by design
	common   bool   // other programs have such values, too: the confidence is low unless the name suggests a lock
}

// recognise returns a clue of high confidence, unless the value is common.
func (f form) recognise(e *entry) (clue, bool) {
	m := f.key.FindStringSubmatch(e.Key)
	if m == nil || !e.text() || !f.value(e.Head) {
		return clue{}, false
	}
	if f.common {
		return byName(e, f.library, f.evidence, High), likely(e)
	}
	c := clue{library: f.library, pattern: f.pattern, confidence: High, evidence: f.evidence, lasting: f.lasting}
	switch {
	case c.pattern != "" || len(m) < 2 || m[1] == "":
	case m[1] == e.Key:
		c.pattern = whole(e.Key)
	default:
		c.pattern = scanner.PrefixPattern(m[1])
	}
	return c, true
}

// whole returns the pattern that matches one key.
func whole(key string) string { return strings.TrimSuffix(scanner.PrefixPattern(key), "*") }

// like matches values by a regular expression.
func like(expression string) func(string) bool { return regexp.MustCompile(expression).MatchString }

// ofSize matches values of a number of bytes, whatever they are.
func ofSize(n int) func(string) bool { return func(value string) bool { return len(value) == n } }

// isUUID matches UUIDs alone.
func isUUID(value string) bool { return uuidOnly.MatchString(value) }

// isHex matches 32 hex digits.
func isHex(value string) bool { return hexOnly.MatchString(value) }

// besideLocks matches numbers that a library keeps beside its locks: how often a lock of go-redislock was entered, when
// one of redis-lock for Ruby ends, and that a semaphore of redis-semaphore for Ruby exists. They are no locks.
//
// jefferyjob/go-redislock, lua/reentrantLock.lua. mlanett/redis-lock, lib/redis-lock.rb: @xkey. dv/redis-semaphore,
// lib/redis/semaphore.rb: exists_key, version_key.
var besideLocks = regexp.MustCompile(`:count:lock_token:|^lock:expire:|(^|:)SEMAPHORE:.+:(EXISTS|VERSION)$`)

func isBeside(e *entry) bool {
	return e.text() && number.MatchString(e.Head) && besideLocks.MatchString(e.Key)
}
