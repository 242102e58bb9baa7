package deploy

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// shippedRunbooks is where the runbooks of the shipped rules are.
const shippedRunbooks = "https://github.com/lockscope/lockscope/blob/main/dashboards/runbooks"

// objectivesGroup has what is expected of single resources.
const objectivesGroup = "distributed-lock-objectives"

// rules fills in a file of rules, or a PrometheusRule.
func (s Settings) rules(text []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	groups := groupsOf(&document)
	if groups == nil {
		return text, nil
	}
	for _, group := range groups.Content {
		for _, rule := range items(field(group, "rules")) {
			if err := s.rule(rule); err != nil {
				return nil, fmt.Errorf("%s%s: %w", value(rule, "record"), value(rule, "alert"), err)
			}
		}
	}
	if err := s.addObjectives(groups); err != nil {
		return nil, err
	}
	return encode(&document)
}

func (s Settings) rule(rule *yaml.Node) error {
	text := value(rule, "expr")
	if s.ExporterJob != "" && value(rule, "alert") == "DistributedLockExporterDown" {
		text += fmt.Sprintf(` or absent(up{job=%q} == 1)`, s.ExporterJob)
	}
	tree, err := parse(text)
	if err != nil {
		return err
	}
	if err := s.rewrite(tree); err != nil {
		return err
	}
	s.budgets(tree, value(field(rule, "labels"), "slo"))
	setText(field(rule, "expr"), parser.Prettify(tree))
	for _, annotation := range items(field(rule, "annotations")) {
		setText(annotation, s.annotation(annotation.Value, value(field(rule, "labels"), "slo")))
	}
	return nil
}

// budgets changes the share of bad acquires that an alert about an objective allows.
func (s Settings) budgets(tree parser.Expr, objective string) {
	numbers := s.Objectives.numbers()
	switch objective {
	case "availability":
		replace(tree, parser.MUL, budget(shipped.Availability), budget(numbers[0]))
	case "wait":
		replace(tree, parser.MUL, budget(shipped.Wait), budget(numbers[1]))
	}
}

func (s Settings) annotation(text, objective string) string {
	var pairs []string
	if s.GrafanaURL != "" && strings.HasPrefix(text, "/d/") {
		text = strings.TrimSuffix(s.GrafanaURL, "/") + text
	}
	if s.RunbookURL != "" {
		pairs = append(pairs, shippedRunbooks+"/", strings.TrimSuffix(s.RunbookURL, "/")+"/")
	}
	numbers := s.Objectives.numbers()
	allows := func(target float64) string { return "The objective allows " + number(100*budget(target)) + " %" }
	switch objective {
	case "availability":
		pairs = append(pairs, allows(shipped.Availability), allows(numbers[0]))
	case "wait":
		longer := func(seconds float64) string { return "waited for longer than " + number(seconds) + " s" }
		pairs = append(pairs, allows(shipped.Wait), allows(numbers[1]), longer(shipped.Within), longer(numbers[2]))
	}
	return s.links(strings.NewReplacer(pairs...).Replace(text))
}

// links puts the labels where a link to a board names the cluster.
func (s Settings) links(text string) string {
	if s.Labels == nil {
		return text
	}
	const own = "var-" + clusterLabel + "={{ $labels." + clusterLabel + " | urlquery }}&"
	var all strings.Builder
	for _, l := range s.Labels {
		all.WriteString(strings.ReplaceAll(own, clusterLabel, l))
	}
	return strings.ReplaceAll(text, own, all.String())
}

// addObjectives appends them to the rules that record.
func (s Settings) addObjectives(groups *yaml.Node) error {
	type rule struct {
		Record string            `yaml:"record"`
		Expr   string            `yaml:"expr"`
		Labels map[string]string `yaml:"labels"`
	}
	var rules []rule
	for _, r := range s.Objectives.Resources {
		of := map[string]string{"resource": r.Resource}
		if r.Every > 0 {
			rules = append(rules, rule{"resource:distributed_lock_expected_interval:seconds", "vector(" + number(float64(r.Every)/1e9) + ")", of})
		}
		if r.Queues {
			rules = append(rules, rule{"resource:distributed_lock_waiting_expected:bool", "vector(1)", of})
		}
	}
	last := -1 // of the groups that record
	for i, group := range groups.Content {
		if rules := items(field(group, "rules")); len(rules) > 0 && value(rules[len(rules)-1], "record") != "" {
			last = i
		}
	}
	if len(rules) == 0 || last < 0 {
		return nil
	}
	var made yaml.Node
	if err := made.Encode(struct {
		Name     string         `yaml:"name"`
		Interval model.Duration `yaml:"interval"`
		Rules    []rule         `yaml:"rules"`
	}{objectivesGroup, model.Duration(60e9), rules}); err != nil {
		return err
	}
	groups.Content = append(groups.Content[:last+1:last+1], append([]*yaml.Node{&made}, groups.Content[last+1:]...)...)
	return nil
}

// alertmanager groups and inhibits by the labels.
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

func encode(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(n)
	return b.Bytes(), err
}

// groupsOf is the list of groups, or nil.
func groupsOf(document *yaml.Node) *yaml.Node {
	if len(document.Content) == 0 {
		return nil
	}
	if spec := field(document.Content[0], "spec"); spec != nil {
		return field(spec, "groups")
	}
	return field(document.Content[0], "groups")
}

// field is that of a mapping, or nil.
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

// setText leaves it to the encoder how the text is to be quoted.
func setText(n *yaml.Node, text string) {
	if n.Value != text {
		n.Value, n.Style = text, 0
	}
}

// items are those of a sequence, or the values of a mapping.
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
