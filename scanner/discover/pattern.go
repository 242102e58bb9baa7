package discover

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
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

// maxPatterns of the keys of a library with a first part in common: a sweep goes through all keys for each of them.
const maxPatterns = 16

// divide makes findings of keys of a library. One pattern for all of them is best. If that does not suit, the parts of
// the names that say lock make patterns, and where those do not suit either, each key is its own.
func divide(library Library, keys []seen, strangers map[string]bool) (found []Found) {
	one := keys[0].pattern
	if one != "" {
		return []Found{foundOf(library, one, keys)}
	}
	one = patternOf(namesOf(keys))
	for _, pattern := range []string{one, lockAtEnd(namesOf(keys))} {
		if suits(pattern, keys, strangers) {
			return []Found{foundOf(library, pattern, keys)}
		}
	}
	parts := make(map[string][]seen)
	for _, k := range keys {
		part := lockPart(k.key)
		parts[part] = append(parts[part], k)
	}
	for pattern, some := range parts {
		if pattern == "" {
			pattern = patternOf(namesOf(some))
		}
		if suits(pattern, some, strangers) {
			found = append(found, foundOf(library, pattern, some))
			continue
		}
		for _, k := range some {
			found = append(found, foundOf(library, whole(k.key), []seen{k}))
		}
	}
	if len(found) > maxPatterns {
		f := foundOf(library, one, keys)
		f.Others = matched(one, strangers)
		return []Found{f}
	}
	return found
}

func namesOf(keys []seen) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.key
	}
	return names
}

// suits reports whether a pattern keeps what says lock in the names, and matches no other keys: of a pattern that says
// lock, at least fewer others than locks.
func suits(pattern string, keys []seen, strangers map[string]bool) bool {
	switch others := matched(pattern, strangers); {
	case namesLock(strings.NewReplacer(`\`, "", "*", "").Replace(pattern)):
		return others == 0 || others < len(keys)
	default:
		return pattern != "" && others == 0 && !slices.ContainsFunc(keys, func(k seen) bool { return namesLock(k.key) })
	}
}

func matched(pattern string, keys map[string]bool) (n int) {
	for key := range keys {
		if keyreader.Matches(pattern, key) {
			n++
		}
	}
	return n
}

// lockAtEnd returns the pattern of what all of several keys begin and end with, each up to a delimiter; "" if they have
// no such end.
func lockAtEnd(keys []string) string {
	begin, end := keys[0], keys[0]
	for _, key := range keys[1:] {
		for !strings.HasPrefix(key, begin) {
			begin = begin[:len(begin)-1]
		}
		for !strings.HasSuffix(key, end) {
			end = end[1:]
		}
	}
	last, first := strings.LastIndexAny(begin, delimiters), strings.IndexAny(end, delimiters)
	if len(keys) < 2 || first < 0 {
		return ""
	}
	return scanner.PrefixPattern(begin[:last+1]) + whole(end[first:])
}

// idWithin matches the parts of a name that are a number, a UUID or a digest.
var idWithin = regexp.MustCompile(`(^|[:/|#._-])(` + uuid + `|[0-9a-f]{12,}|[0-9]+)`)

// lockPart returns the pattern of names that have the same up to the word that says lock, apart from ids; "" if no word
// does.
func lockPart(key string) string {
	at := lockWord.FindStringIndex(key)
	if at == nil {
		return ""
	}
	upTo, rest := key[:at[1]], ""
	if last := upTo[len(upTo)-1:]; strings.ContainsAny(last, delimiters) {
		rest = "*"
	} else if at[1] < len(key) {
		upTo, rest = upTo[:len(upTo)-1], "*"
	}
	pattern := whole(idWithin.ReplaceAllString(upTo, "$1\x00")) // no id has a NUL
	return strings.ReplaceAll(pattern, "\x00", "*") + rest
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
