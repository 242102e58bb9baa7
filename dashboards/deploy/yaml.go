package deploy

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

func encode(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(n)
	return b.Bytes(), err
}

// groupsOf returns the list of groups, or nil.
func groupsOf(document *yaml.Node) *yaml.Node {
	if len(document.Content) == 0 {
		return nil
	}
	if spec := field(document.Content[0], "spec"); spec != nil {
		return field(spec, "groups")
	}
	return field(document.Content[0], "groups")
}

// field returns a field of a mapping, or nil.
func field(n *yaml.Node, name string) *yaml.Node {
	if n != nil && n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

func value(n *yaml.Node, name string) string {
	if f := field(n, name); f != nil {
		return f.Value
	}
	return ""
}

// setText sets a text and lets the encoder choose its quotes.
func setText(n *yaml.Node, text string) {
	if n.Value != text {
		n.Value, n.Style = text, 0
	}
}

// items returns the items of a sequence, or the values of a mapping.
func items(n *yaml.Node) (all []*yaml.Node) {
	if n == nil {
		return nil
	}
	for i, c := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			all = append(all, c)
		}
	}
	return all
}
