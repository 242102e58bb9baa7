package page

import (
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestAsset(t *testing.T) {
	for name, a := range map[string]Asset{"locks": locksAsset(), "fleet": fleetAsset()} {
		t.Run(name, func(t *testing.T) { checkAsset(t, bodyOf(t, a)) })
	}
}

func bodyOf(t *testing.T, a Asset) string {
	w := httptest.NewRecorder()
	a.Serve(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	return w.Body.String()
}

func checkAsset(t *testing.T, body string) {
	t.Helper()
	if n := len(body); n > 100<<10 {
		t.Errorf("the page has %d bytes", n)
	}
	for _, open := range []string{"<script", "</script", "<style", "</style"} {
		if n := strings.Count(body, open); n != 1 {
			t.Errorf("%q occurs %d times: a part would end early and lose its hash", open, n)
		}
	}
	for _, unwanted := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
		"/*style*/", "/*script*/", "@import", "url(", " style=", "onclick="} {
		if strings.Contains(body, unwanted) {
			t.Errorf("the page holds %s", unwanted)
		}
	}
	if outside := regexp.MustCompile(`(?:href|src)="(?:https?:)?//[^"]*`).FindString(body); outside != "" {
		t.Errorf("the page needs %s", outside)
	}
}

// TestContrast computes the contrast of texts with their backgrounds, for both themes, as WCAG 2.2 defines it.
func TestContrast(t *testing.T) {
	const text, shape = 4.5, 3
	for _, pair := range []struct {
		fore, back string
		least      float64
	}{
		{"text", "bg", 7}, {"text", "card", 7}, {"text", "raised", 7},
		{"muted", "bg", text}, {"muted", "card", text}, {"muted", "raised", text},
		{"accent", "card", text}, {"accent", "bg", text}, {"second", "card", text},
		{"good", "card", text}, {"warn", "card", text}, {"bad", "card", text},
		{"good", "bg", text}, {"warn", "bg", text}, {"bad", "bg", text},
		{"good", "good-soft", text}, {"warn", "warn-soft", text}, {"bad", "bad-soft", text},
		{"edge", "card", shape}, {"good", "raised", shape}, {"warn", "raised", shape}, {"bad", "raised", shape},
		{"accent", "raised", shape},
	} {
		for i, theme := range []string{"light", "dark"} {
			if got := contrast(colour(t, pair.fore, i), colour(t, pair.back, i)); got < pair.least {
				t.Errorf("%s: %s on %s has %.2f, want %.1f", theme, pair.fore, pair.back, got, pair.least)
			}
		}
	}
}

func colour(t *testing.T, name string, theme int) (rgb [3]float64) {
	t.Helper()
	m := regexp.MustCompile(`--` + name + `: light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)`).FindStringSubmatch(pageCSS)
	if m == nil {
		t.Fatalf("no colour --%s", name)
	}
	for i := range rgb {
		n, err := strconv.ParseUint(m[theme+1][2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		rgb[i] = float64(n) / 255
	}
	return rgb
}

func luminance(rgb [3]float64) float64 {
	var sum float64
	for i, weight := range []float64{.2126, .7152, .0722} {
		c := rgb[i] / 12.92
		if rgb[i] > .04045 {
			c = math.Pow((rgb[i]+.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func contrast(a, b [3]float64) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + .05) / (min(la, lb) + .05)
}
