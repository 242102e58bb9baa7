package promql_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
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

// TestForms: an expression about classic histograms reads native ones, too.
func TestForms(t *testing.T) {
	const wait = "distributed_lock_wait_seconds"
	for expr, want := range map[string]string{
		"sum(rate(" + wait + "_count{a=~\"$a\"}[5m])) > 1": "sum((rate(" + wait + "_count{a=~\"$a\"}[5m]) or histogram_count(rate(" +
			wait + "{a=~\"$a\"}[5m])))) > 1",
		"increase(" + wait + "_sum[$__range])": "(increase(" + wait + "_sum[$__range]) or histogram_sum(increase(" + wait + "[$__range])))",
		"rate(" + wait + "_bucket{le=\"0.5\"}[1h])": "(label_replace(rate(" + wait + "_bucket{le=\"0.5\"}[1h]), \"le\", \"\", \"le\", \".*\") or " +
			"histogram_fraction(-1, 0.5, rate(" + wait + "[1h])) * (histogram_count(rate(" + wait + "[1h])) > 0))",
		"rate(" + wait + "_bucket{a=\"b\",le=~\"1([.]0)?\"}[1h])": "(label_replace(rate(" + wait +
			"_bucket{a=\"b\",le=~\"1([.]0)?\"}[1h]), \"le\", \"\", \"le\", \".*\") or histogram_fraction(-1, 1, rate(" + wait +
			"{a=\"b\"}[1h])) * (histogram_count(rate(" + wait + "{a=\"b\"}[1h])) > 0))",
		"histogram_quantile(0.99, sum by (job, le)\n(rate(" + wait + "_bucket[5m])))": "max by (job) (label_replace(histogram_quantile(0.99, " +
			"sum by (job, le) (rate(" + wait + "_bucket[5m]))), \"form\", \"classic\", \"\", \"\") or histogram_quantile(0.99, sum by (job) (rate(" +
			wait + "[5m]))))",
		"rate(distributed_lock_scanner_pass_duration_seconds_count[5m])": "rate(distributed_lock_scanner_pass_duration_seconds_count[5m])",
		"rate(distributed_lock_attempts_total[5m])":                      "rate(distributed_lock_attempts_total[5m])",
	} {
		if got := promql.Forms(expr); got != want {
			t.Errorf("%s becomes\n%s, want\n%s", expr, got, want)
		}
	}
}

// TestBounds compares the bounds with the package that makes the histograms.
func TestBounds(t *testing.T) {
	text, err := os.ReadFile("../../../../instrument/README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("`(distributed_lock_\\w+)` \\| histogram .*Buckets: ([0-9. ]+)\\.").FindAllStringSubmatch(string(text), -1)
	if len(rows) != 5 {
		t.Errorf("%d histograms", len(rows))
	}
	for _, row := range rows {
		made := promql.Buckets(row[1], "x")
		for le := range strings.FieldsSeq(row[2]) {
			if !strings.Contains(made, `"`+promql.Spelled(le)+`"`) {
				t.Errorf("%s lacks %s", row[1], le)
			}
		}
		if got, want := strings.Count(made, "histogram_fraction"), len(strings.Fields(row[2])); got != want {
			t.Errorf("%s has %d bounds, want %d", row[1], got, want)
		}
	}
}
