package discover

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

//go:embed libraries.txt
var libraries string

// rows are those of libraries.txt. A test parses it, so that an error cannot reach a user.
var rows, _ = parse(libraries)

// notLocks is the library of rows that describe keys beside locks.
const notLocks Library = "-"

// uuid stands for UUID in expressions.
const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

// row is one form of a lock; README.md describes the fields. A nil expression matches everything.
type row struct {
	library    Library
	kind       string         // of the key
	format     inspect.Format // that the scanner reads
	key        *regexp.Regexp
	values     []*regexp.Regexp // all of them match
	size       int64
	fields     *regexp.Regexp // matches the names of all fields
	field      string         // has a value that matches fieldValue
	fieldValue *regexp.Regexp
	beside     string // kind of helper key that is there, too
	conditions []condition
	pattern    string
	sure       inspect.Confidence
	byName     bool // low unless the name suggests a lock
	token      bool // the values are nothing but random tokens
	ttl        string
	evidence   string
	example    string // name and value of a key, as a text in Go is quoted
	source     string
	Traits
}

// parse returns the rows of a text, and its first error.
func parse(text string) (all []row, err error) {
	r := row{kind: keyreader.String, sure: inspect.High}
	fresh := r
	var name, value string
	set := func() {
		if failed := r.set(name, value); name != "" && failed != nil && err == nil {
			err = fmt.Errorf("%s: %s: %w", r.library, name, failed)
		}
		name, value = "", ""
	}
	for line := range strings.SplitSeq(text+"\n\n", "\n") {
		switch more, continued := strings.CutPrefix(line, "  "); {
		case continued:
			value += " " + more
		case line == "":
			if set(); r.library != "" {
				all = append(all, r)
			}
			r = fresh
		case line[0] != '#':
			set()
			name, value, _ = strings.Cut(line, ": ")
		}
	}
	return all, err
}

// set sets a field of the row.
func (r *row) set(name, text string) (err error) {
	switch name {
	case "library":
		r.library = Library(text)
	case "type":
		r.kind = text
	case "format":
		r.format = inspect.Format(text)
	case "key":
		r.key, err = compile(text)
	case "value":
		r.values = append(r.values, nil)
		r.values[len(r.values)-1], err = compile(text)
	case "size":
		r.size, err = strconv.ParseInt(text, 10, 64)
	case "fields":
		r.fields, err = compile(text)
	case "field":
		r.field, text, _ = strings.Cut(text, " ")
		r.fieldValue, err = compile(text)
	case "beside":
		r.beside = text
	case "if":
		for name := range strings.SplitSeq(text, ", ") {
			r.conditions = append(r.conditions, conditions[name])
		}
		if slices.ContainsFunc(r.conditions, func(c condition) bool { return c == nil }) {
			err = fmt.Errorf("no condition %q", text)
		}
	case "sure":
		text, r.byName = strings.CutSuffix(text, " by name")
		r.sure = map[string]inspect.Confidence{"low": inspect.Low, "medium": inspect.Medium, "high": inspect.High}[text]
	case "token":
		r.token = text == "yes"
	case "foreign":
		r.Foreign = text == "yes"
	case "ttl":
		r.ttl, r.Lasting = text, text == "none"
	case "hold":
		if r.HeldForTTL = text == "ttl"; !r.HeldForTTL {
			r.MaxHold, err = time.ParseDuration(text)
		}
	default:
		texts := map[string]*string{
			"pattern": &r.pattern, "advice": &r.Advice, "evidence": &r.evidence,
			"example": &r.example, "source": &r.source,
		}
		if texts[name] == nil {
			return fmt.Errorf("no such field")
		}
		*texts[name] = text
	}
	return err
}

func compile(text string) (*regexp.Regexp, error) {
	return regexp.Compile(strings.ReplaceAll(text, "UUID", uuid))
}
