package discover

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// TestRows: each row has the fields that README.md asks for, and its example is recognised by this row and no other.
func TestRows(t *testing.T) {
	if _, err := parse(libraries); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 50 {
		t.Errorf("%d rows", len(rows))
	}
	for i := range rows {
		r := &rows[i]
		if err := r.check(); err != nil {
			t.Errorf("row %d, %s: %v", i+1, r.library, err)
		}
	}
}

func (r *row) check() error {
	e, err := r.asExample()
	if err != nil {
		return err
	}
	c, ok := recognise(e)
	if r.library == notLocks {
		if ok || !r.matches(e) || r.source == "" {
			return fmt.Errorf("%s is no lock, but %+v; the source is %q", r.example, c, r.source)
		}
		return nil
	}
	if r.evidence == "" || r.source == "" || r.sure == 0 {
		return fmt.Errorf("a field is missing: evidence %q, source %q, sure %v", r.evidence, r.source, r.sure)
	}
	if usual, _, _ := strings.Cut(r.ttl, ","); usual != "none" && usual != "the caller's" {
		if _, err := time.ParseDuration(usual); err != nil {
			return fmt.Errorf("ttl: %w", err)
		}
	}
	if want := r.clue(e); !r.matches(e) || c != want {
		return fmt.Errorf("%s is taken for %+v, not %+v", r.example, c, want)
	}
	for _, v := range r.values {
		m := v.FindStringSubmatch(e.Head)
		for i, name := range v.SubexpNames() {
			if name != "" && (m[i] == "" || !slices.Contains([]string{"holder", "since", "end"}, name)) {
				return fmt.Errorf("the example has no %s", name)
			}
		}
	}
	return nil
}

// asExample returns the key of the example, as it is while the lock is held.
func (r *row) asExample() (*entry, error) {
	text, err := strconv.Unquote(`"` + r.example + `"`)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.example, err)
	}
	key, value, _ := strings.Cut(text, " ")
	v := &keyreader.Value{Key: key, Type: r.kind, TTL: time.Minute}
	if r.Lasting {
		v.TTL = keyreader.Never
	}
	if v.Head, v.Size = value, int64(len(value)); r.kind == keyreader.Hash {
		v.Head, v.Size = "", 0
		for field := range strings.FieldsSeq(value) {
			name, value, _ := strings.Cut(field, "=")
			v.Fields, v.Size = append(v.Fields, [2]string{name, value}), v.Size+1
		}
	}
	return &entry{Value: v, beside: r.beside}, nil
}

// TestRowsWithErrors: a mistake in a row is an error that names it.
func TestRowsWithErrors(t *testing.T) {
	for text, says := range map[string]string{
		"library: a\nname: b":          "a: name: no such field",
		"library: a\nkey: (":           "a: key: ",
		"library: a\nvalue: [":         "a: value: ",
		"library: a\nsize: many":       "a: size: ",
		"library: a\nif: ttl, a whim":  "a: if: no condition",
		"library: a\nhold: a while":    "a: hold: ",
		"library: a\n\nlibrary: b\nx:": "b: x:",
	} {
		if _, err := parse(text); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
	all, err := parse("library: a\n# a comment\nsource: one\n  two\n\n\nlibrary: b")
	if err != nil || len(all) != 2 || all[0].source != "one two" || all[1].library != "b" {
		t.Errorf("%+v, %v", all, err)
	}
}
