package discover

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/scanner"
)

const delimiters = ":/|#._-"

// firstPart returns the beginning of a key up to its first delimiter.
func firstPart(key string) string {
	if i := strings.IndexAny(key, ":/|#"); i > 0 {
		return key[:i]
	}
	if i := strings.IndexAny(key, "._-"); i > 0 {
		return key[:i]
	}
	return key
}

// patternOf returns the pattern of what all keys begin with, up to a delimiter. The keys have their first part in
// common. A single key without a delimiter is its own pattern.
//
// Slots of a semaphore count as the semaphore, so that its name is no prefix of its own.
func patternOf(keys []string) string {
	names := withoutSlots(keys)
	if len(names) == 1 && len(names) < len(keys) && !strings.ContainsAny(names[0], delimiters) {
		return scanner.PrefixPattern(names[0] + "#")
	}
	keys = names
	common := keys[0]
	for _, key := range keys[1:] {
		for !strings.HasPrefix(key, common) {
			common = common[:len(common)-1]
		}
	}
	if len(keys) > 1 && common != "" && strings.ContainsAny(common[len(common)-1:], delimiters) {
		return scanner.PrefixPattern(common)
	}
	if i := strings.LastIndexAny(common, delimiters); i >= 0 {
		return scanner.PrefixPattern(common[:i+1])
	}
	if len(keys) > 1 {
		return scanner.PrefixPattern(common)
	}
	return strings.TrimSuffix(scanner.PrefixPattern(common), "*")
}

// withoutSlots returns the keys in order, with one key in place of the slots of each semaphore that has several.
func withoutSlots(keys []string) (names []string) {
	slots := make(map[string]int)
	for _, key := range keys {
		if name, _, ok := records.ParseSlot(key); ok {
			slots[name]++
		}
	}
	for _, key := range keys {
		if name, _, ok := records.ParseSlot(key); ok && slots[name] > 1 {
			key = name
		}
		if !slices.Contains(names, key) {
			names = append(names, key)
		}
	}
	return names
}

// lockWord matches a word that means a lock; block and clock do not.
var lockWord = regexp.MustCompile(
	`(?i:(^|[^a-z])(red|job|task|cron|redis|dist|shed|app|my)?` +
		`(locks?|locked|locking|mutex|mutexes|lease|leases)([^a-z]|$))|[a-z]Lock([^a-z]|$)`)

func namesLock(key string) bool { return lockWord.MatchString(key) }

// otherWord matches a word for what has random values too, and is no lock.
var otherWord = regexp.MustCompile(
	`(?i:(^|[^a-z])(sess|sessions?|sid|caches?|cached|etags?|tokens?|csrf|xsrf|nonces?|otp|auth|oauth|cookies?|` +
		`passwords?|resets?|verify|verification|invites?|idempotency|api[_-]?keys?|secrets?|jwt|captchas?|devices?|` +
		`visitors?|fingerprints?)` +
		`([^a-z]|$))`)

func namesOther(key string) bool { return otherWord.MatchString(key) && !namesLock(key) }
