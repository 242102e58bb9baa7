package deploy

import (
	"fmt"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// objectivesGroup is the group with the objectives of single resources.
const objectivesGroup = "distributed-lock-objectives"

// rules applies the settings to a file of rules or a PrometheusRule.
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

func (s Settings) annotation(text, objective string) string {
	var pairs []string
	if s.GrafanaURL != "" && strings.HasPrefix(text, "/d/") {
		text = strings.TrimSuffix(s.GrafanaURL, "/") + text
	}
	if s.RunbookURL != "" {
		pairs = append(pairs, ShippedRunbooks+"/", strings.TrimSuffix(s.RunbookURL, "/")+"/")
	}
	pairs = append(pairs, s.Objectives.sentences(objective)...)
	return s.links(strings.NewReplacer(pairs...).Replace(text))
}

// links replaces the cluster with the labels in a link to a board.
func (s Settings) links(text string) string {
	if s.Labels == nil {
		return text
	}
	const own = "var-" + ClusterLabel + "={{ $labels." + ClusterLabel + " | urlquery }}&"
	var all strings.Builder
	for _, l := range s.Labels {
		all.WriteString(strings.ReplaceAll(own, ClusterLabel, l))
	}
	return strings.ReplaceAll(text, own, all.String())
}

// addObjectives adds the group of objectives after the groups that record.
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
			seconds := number(float64(r.Every) / 1e9)
			rules = append(rules, rule{"resource:distributed_lock_expected_interval:seconds", "vector(" + seconds + ")",
				of})
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
