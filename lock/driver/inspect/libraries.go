package inspect

// Library is the locks of one library under one pattern.
type Library struct {
	Name       string
	Pattern    string
	Keys       int // keys that were read
	NoTTL      int // how many of them never expire
	Example    string
	Evidence   string // one sentence, without a value
	Confidence Confidence
}

// Libraries is which libraries keep locks in a system.
type Libraries struct {
	Found []Library
	Read  Counted  // what was looked at
	Whole bool     // that is everything
	Notes []string // what this user could not read, with the remedy

	at map[[2]string]int // by name and pattern
}

// Add adds keys of one library under one pattern. The example is the first one by its bytes.
func (l *Libraries) Add(f Library) {
	if l.at == nil {
		l.at = make(map[[2]string]int)
	}
	id := [2]string{f.Name, f.Pattern}
	i, known := l.at[id]
	if !known {
		l.at[id] = len(l.Found)
		l.Found = append(l.Found, f)
		return
	}
	all := &l.Found[i]
	all.Keys += f.Keys
	all.NoTTL += f.NoTTL
	all.Example = min(all.Example, f.Example)
}
