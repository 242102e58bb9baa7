package promql_test

import (
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFill(t *testing.T) {
	vars := map[string]string{"job": "shop|.+", "__range": "1h"}
	for _, c := range []struct{ expr, want, unknown string }{
		{`a{job=~"$job"}`, `a{job=~"shop|.+"}`, ""},
		{`a{job=~"${job}"}`, `a{job=~"shop|.+"}`, ""},
		{`a{job=~"${job:regex}"}`, `a{job=~"shop|.+"}`, ""},
		{`rate(a[$__rate_interval])`, `rate(a[9m59s])`, ""},
		{`rate(a[$__range])`, `rate(a[1h])`, ""}, // vars win
		{`a{job=~"$jobs"}`, `a{job=~"$jobs"}`, "jobs"},
		{`a{le=~"1([.]0)?"}`, `a{le=~"1([.]0)?"}`, ""},
	} {
		got, unknown := promql.Fill(c.expr, vars)
		if got != c.want || c.unknown == "" && unknown != nil || c.unknown != "" &&
			!slices.Equal(unknown, []string{c.unknown}) {
			t.Errorf("%s becomes %s, unknown %v", c.expr, got, unknown)
		}
	}
}

func TestSelectors(t *testing.T) {
	tree, err := promql.Parse(`sum(rate(a{job=~"x"}[5m])) / {__name__="b"} > {__name__=~"c|d"}`)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range promql.Selectors(tree) {
		names = append(names, s.Metric)
	}
	if want := []string{"a", "b", ""}; !slices.Equal(names, want) {
		t.Errorf("selectors of %q, want %q", names, want)
	}
	first := promql.Selectors(tree)[0]
	if first.Matcher("job") != `job=~"x"` || first.Matcher("instance") != "" || len(first.Parents) < 3 {
		t.Errorf("matchers %v below %d nodes", first.Matchers, len(first.Parents))
	}
}

func TestPretty(t *testing.T) {
	long := "sum(distributed_lock_failures_total) / sum(distributed_lock_wait_seconds_count) + sum(distributed_lock_failures_total)"
	text, err := promql.Pretty(long)
	if err != nil {
		t.Fatal(err)
	}
	a, errA := promql.Parse(long)
	b, errB := promql.Parse(text)
	if errA != nil || errB != nil || a.String() != b.String() || text == long {
		t.Errorf("%s\n%v %v", text, errA, errB)
	}
	if _, err := promql.Pretty("sum("); err == nil {
		t.Error("nonsense is made pretty")
	}
}
