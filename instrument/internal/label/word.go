package label

// A word of at least these lengths is an id if, in this order, it is hexadecimal with a digit, mixes upper and lower
// case with digits, mixes letters and digits, or consists of anything.
const minHex, minMixed, minAlnum, minLong = 8, 10, 16, 32

// These ids may have no digits. minChanges is how often they change case at least.
const base62UUID, ksuid, minChanges = 22, 27, 9

// IsName reports whether a label may have this name. Prometheus reserves names that begin with "__".
func IsName(name string) bool {
	for i := range len(name) {
		if k := kindOf(name[i]); k == 0 && name[i] != '_' || k == '0' && i == 0 {
			return false
		}
	}
	return name != "" && (len(name) < 2 || name[:2] != "__")
}

// letters counts the characters of a word.
type letters struct {
	digits, hexes, uppers, lowers int
	changes                       int // from one of digits, uppers and lowers to another
	last                          byte
}

// count reports whether c belongs to a word.
func (k *letters) count(c byte) bool {
	kind := kindOf(c)
	switch kind {
	case '0':
		k.digits++
		k.hexes++
	case 'a':
		k.lowers++
		if c <= 'f' {
			k.hexes++
		}
	case 'A':
		k.uppers++
		if c <= 'F' {
			k.hexes++
		}
	}
	if kind != 0 && k.last != 0 && kind != k.last {
		k.changes++
	}
	k.last = kind
	return kind != 0 || c >= 0x80
}

// kindOf returns '0' for a digit, 'a' or 'A' for a letter, and 0 otherwise.
func kindOf(c byte) byte {
	switch { // differences of bytes wrap around
	case c-'0' <= 9:
		return '0'
	case c-'a' <= 'z'-'a':
		return 'a'
	case c-'A' <= 'Z'-'A':
		return 'A'
	default:
		return 0
	}
}

func (k *letters) idLike(n int) bool {
	switch {
	case k.digits == n, n >= minLong:
		return true
	case k.digits == 0:
		// One in a hundred of these ids has no digit. Words put together change less often.
		return (n == base62UUID || n == ksuid) && k.uppers+k.lowers == n && k.changes >= minChanges
	case k.hexes == n && n >= minHex:
		return true
	default:
		return k.uppers > 0 && k.lowers > 0 && n >= minMixed || n >= minAlnum
	}
}
