package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const askLimit = 30 * time.Second

// client asks one HTTP API.
type client struct {
	base string
	http *http.Client
}

func newClient(base string) *client {
	return &client{base: base, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		Timeout: askLimit}}
}

// get decodes the body of every status, because Prometheus sends its errors as JSON.
func (c *client) get(ctx context.Context, path string, form url.Values, into any) error {
	target := c.base + path
	if len(form) > 0 {
		target += "?" + form.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s%s: %s: %.200s", c.base, path, resp.Status, body)
	}
	return nil
}

// Errors of an answer.
var (
	errRefused = errors.New("refused by Prometheus")
	errWarned  = errors.New("answered with warnings")
)

// ask reads the data of Prometheus's answer. Warnings count as errors.
func (c *client) ask(ctx context.Context, path string, form url.Values, data any) error {
	var answer struct {
		Status, ErrorType, Error string
		Warnings, Infos          []string
		Data                     json.RawMessage
	}
	if err := c.get(ctx, path, form, &answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return fmt.Errorf("%w: %s: %s", errRefused, answer.ErrorType, answer.Error)
	}
	if told := append(answer.Warnings, answer.Infos...); len(told) > 0 {
		return fmt.Errorf("%w: %s", errWarned, strings.Join(told, "; "))
	}
	return json.Unmarshal(answer.Data, data)
}

// series is one series of an answer.
type series struct {
	labels  map[string]string
	samples []sample
}

type sample struct {
	at    time.Time
	value float64 // may be NaN
}

func (s *sample) UnmarshalJSON(text []byte) error {
	var at float64
	var value string
	if err := json.Unmarshal(text, &[2]any{&at, &value}); err != nil {
		return err
	}
	var err error
	s.at = time.UnixMilli(int64(at * 1000))
	s.value, err = strconv.ParseFloat(value, 64)
	return err
}

// result is the data of a query, instant or not.
type result struct {
	ResultType string
	Result     json.RawMessage
}

func (r result) series() ([]series, error) {
	switch r.ResultType {
	case "scalar":
		var one sample
		err := json.Unmarshal(r.Result, &one)
		return []series{{samples: []sample{one}}}, err
	case "vector", "matrix":
		var raw []struct {
			Metric map[string]string
			Value  *sample
			Values []sample
		}
		err := json.Unmarshal(r.Result, &raw)
		all := make([]series, len(raw))
		for i, s := range raw {
			if s.Value != nil {
				s.Values = append(s.Values, *s.Value)
			}
			all[i] = series{labels: s.Metric, samples: s.Values}
		}
		return all, err
	}
	return nil, fmt.Errorf("a result of type %q", r.ResultType)
}

func (c *client) instant(ctx context.Context, expr string, at time.Time) ([]series, error) {
	var r result
	if err := c.ask(ctx, "/api/v1/query", url.Values{"query": {expr}, "time": {unix(at)}}, &r); err != nil {
		return nil, err
	}
	return r.series()
}

func (c *client) course(ctx context.Context, expr string, w window) ([]series, error) {
	form := w.form()
	form.Set("query", expr)
	form.Set("step", strconv.FormatFloat(w.step.Seconds(), 'f', -1, 64))
	var r result
	if err := c.ask(ctx, "/api/v1/query_range", form, &r); err != nil {
		return nil, err
	}
	return r.series()
}

// values returns the values of a label in the series of a selector.
func (c *client) values(ctx context.Context, selector, label string, w window) (all []string, err error) {
	form := w.form()
	form.Set("match[]", selector)
	return all, c.ask(ctx, "/api/v1/label/"+label+"/values", form, &all)
}

// exemplars counts the exemplars of an expression.
func (c *client) exemplars(ctx context.Context, expr string, w window) (n int, err error) {
	form := w.form()
	form.Set("query", expr)
	var found []struct{ Exemplars []json.RawMessage }
	err = c.ask(ctx, "/api/v1/query_exemplars", form, &found)
	for _, f := range found {
		n += len(f.Exemplars)
	}
	return n, err
}

func unix(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }
