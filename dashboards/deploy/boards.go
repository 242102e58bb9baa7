package deploy

import (
	"bytes"
	"encoding/json"
	"strings"
)

// board applies the settings to a Grafana dashboard. If only the address of the runbooks differs, the rest
// of the text stays byte for byte.
func (s Settings) board(text []byte) ([]byte, error) {
	var err error
	if s.concernsBoards() {
		if text, err = s.rewritten(text); err != nil {
			return nil, err
		}
	}
	if s.RunbookURL == "" {
		return text, nil
	}
	folder, err := json.Marshal(strings.TrimSuffix(s.RunbookURL, "/") + "/")
	return bytes.ReplaceAll(text, []byte(ShippedRunbooks+"/"), bytes.Trim(folder, `"`)), err
}

func (s Settings) rewritten(text []byte) ([]byte, error) {
	var b object
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&b); err != nil {
		return nil, err
	}
	templating, _ := b["templating"].(object)
	list, _ := templating["list"].([]any)
	if list != nil {
		templating["list"] = s.variables(list)
	}
	s.walk(b)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(b)
	return out.Bytes(), err
}

// walk changes the expressions, links and objectives below v.
func (s Settings) walk(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			s.walk(item)
		}
	case object:
		s.limits(v)
		for key, item := range v {
			text, ok := item.(string)
			if ok && key == "expr" && elsewhere(v) {
				continue
			}
			if !ok {
				s.walk(item)
				continue
			}
			v[key] = s.text(key, text)
		}
	}
}

// elsewhere reports whether a query is for logs or traces, which have their own languages.
func elsewhere(query object) bool {
	kind := asObject(query["datasource"])["type"]
	return kind == "loki" || kind == "tempo"
}

// text changes one string, according to its field.
func (s Settings) text(key, text string) string {
	switch key {
	case "expr":
		return s.expr(text)
	case "query", "definition":
		if m := labelValues.FindStringSubmatch(text); m != nil {
			return "label_values(" + s.expr(m[1]) + ", " + m[2] + ")"
		}
	case "description":
		return s.promises(text)
	case "legendFormat", "textFormat":
		return s.each(text, "{{"+ClusterLabel+"}}", " ")
	case "url":
		return s.each(text, "${"+ClusterLabel+":queryparam}&", "")
	}
	return text
}
