package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

// decode fills in the file from its text. The YAML library's own decoder names no line for
// a name it does not know, and repeats values in its errors.
func (f *File) decode(text []byte, p *problems) {
	documents := yaml.NewDecoder(bytes.NewReader(text))
	var root, more yaml.Node
	switch err := documents.Decode(&root); {
	case errors.Is(err, io.EOF):
		p.at(0, "", "the file is empty")
		return
	case err != nil:
		p.syntax(err)
		return
	}
	if err := documents.Decode(&more); err == nil {
		p.at(more.Line, "", "a second document begins here: use one")
	}
	(&decoder{p}).value(root.Content[0], reflect.ValueOf(f).Elem(), "")
}

var syntaxLine = regexp.MustCompile(`line (\d+)`)

// quoted is what the library may repeat of the text.
var quoted = regexp.MustCompile("[`'\"].*[`'\"]")

func (p *problems) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if m := syntaxLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1]) // digits only
		text = strings.TrimPrefix(text, m[0]+": ")
	}
	p.at(line, "", "%s", quoted.ReplaceAllString(text, "'…'"))
}

type decoder struct{ *problems }

// parser reads the text of a scalar.
type parser interface{ parse(text string) error }

func (d *decoder) value(node *yaml.Node, v reflect.Value, path string) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	d.lines[path] = node.Line
	if node.Tag == "!!null" {
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if scalar, ok := v.Addr().Interface().(parser); ok {
		if d.expect(node, yaml.ScalarNode, path, "one value") {
			if err := scalar.parse(node.Value); err != nil {
				d.at(node.Line, path, "%v", err)
			}
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.object(node, v, path)
	case reflect.Map:
		d.texts(node, v, path)
	case reflect.Slice:
		d.list(node, v, path)
	default:
		d.scalar(node, v, path)
	}
}

func (d *decoder) expect(node *yaml.Node, kind yaml.Kind, path, what string) bool {
	if node.Kind != kind {
		d.at(node.Line, path, "must be %s", what)
	}
	return node.Kind == kind
}

func (d *decoder) object(node *yaml.Node, v reflect.Value, path string) {
	if !d.expect(node, yaml.MappingNode, path, "a mapping (name: value)") {
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		field := fieldOf(v, key.Value)
		switch {
		case !field.IsValid():
			d.unknown(key, v.Type(), path)
		case seen[key.Value]:
			d.at(key.Line, within(path, key.Value), "set twice")
		default:
			seen[key.Value] = true
			d.value(node.Content[i+1], field, within(path, key.Value))
		}
	}
	for _, name := range namesOf(v.Type(), true) {
		if !seen[name] {
			d.at(node.Line, path, "%s is missing", name)
		}
	}
}

// unknown does not repeat what resembles no name: it may be a value in the wrong place.
func (d *decoder) unknown(key *yaml.Node, t reflect.Type, path string) {
	known := namesOf(t, false)
	if meant := ui.Nearest(key.Value, known); meant != "" {
		d.at(key.Line, path, "unknown name %s: did you mean %s?", strconv.Quote(key.Value), meant)
		return
	}
	d.at(key.Line, path, "unknown name: use one of %s", strings.Join(known, ", "))
}

func (d *decoder) list(node *yaml.Node, v reflect.Value, path string) {
	if !d.expect(node, yaml.SequenceNode, path, "a list") {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(node.Content), len(node.Content)))
	for i, item := range node.Content {
		d.value(item, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
}

func (d *decoder) texts(node *yaml.Node, v reflect.Value, path string) {
	if !d.expect(node, yaml.MappingNode, path, "a mapping (name: value)") {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i := 0; i+1 < len(node.Content); i += 2 {
		text := reflect.New(v.Type().Elem()).Elem()
		d.value(node.Content[i+1], text, within(path, node.Content[i].Value))
		v.SetMapIndex(reflect.ValueOf(node.Content[i].Value), text)
	}
}

func (d *decoder) scalar(node *yaml.Node, v reflect.Value, path string) {
	if !d.expect(node, yaml.ScalarNode, path, "one value") {
		return
	}
	switch v.Kind() {
	case reflect.String:
		if node.Tag != "!!str" {
			d.at(node.Line, path, "must be a text: put it in quotation marks")
		}
		v.SetString(node.Value)
	case reflect.Bool:
		if node.Tag != "!!bool" {
			d.at(node.Line, path, "must be true or false")
		}
		v.SetBool(strings.EqualFold(node.Value, "true"))
	case reflect.Int:
		n, err := strconv.Atoi(node.Value)
		if err != nil {
			d.at(node.Line, path, "must be a whole number")
		}
		v.SetInt(int64(n))
	}
}

func within(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// fieldOf finds a field by its name in the file, also in embedded structs.
func fieldOf(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			if inner := fieldOf(v.Field(i), name); inner.IsValid() {
				return inner
			}
		} else if own, _ := nameOf(field); own == name && own != "" {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

// namesOf are the names of a struct's fields, or of those that must be given.
func namesOf(t reflect.Type, needed bool) (names []string) {
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			names = append(names, namesOf(field.Type, needed)...)
		} else if name, optional := nameOf(field); name != "" && !(needed && optional) {
			names = append(names, name)
		}
	}
	return names
}

// nameOf is "" for a field that no file has.
func nameOf(field reflect.StructField) (name string, optional bool) {
	parts := strings.Split(field.Tag.Get("json"), ",")
	return parts[0], slices.ContainsFunc(parts[1:], func(o string) bool { return o == "omitempty" || o == "omitzero" })
}
