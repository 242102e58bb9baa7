package deploy

import "go.yaml.in/yaml/v3"

// alertmanager makes Alertmanager group and inhibit by the labels.
func (s Settings) alertmanager(text []byte) ([]byte, error) {
	if s.Labels == nil {
		return text, nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if err := s.byLabels(&document); err != nil {
		return nil, err
	}
	return encode(&document)
}

func (s Settings) byLabels(n *yaml.Node) error {
	for i := 0; i < len(n.Content); i++ {
		if key := n.Content[i].Value; n.Kind == yaml.MappingNode && i%2 == 0 && (key == "group_by" || key == "equal") {
			var list []string
			if err := n.Content[i+1].Decode(&list); err != nil {
				return err
			}
			if list = s.apart(list); len(list) == 0 {
				n.Content = append(n.Content[:i:i], n.Content[i+2:]...)
				i-- // the next key is here now
				continue
			}
			if err := n.Content[i+1].Encode(list); err != nil {
				return err
			}
		}
		if i < len(n.Content) {
			if err := s.byLabels(n.Content[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
