package text

import "testing"

func TestTraceOf(t *testing.T) {
	for in, want := range map[string]string{
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":  "0af7651916cd43dd8448eb211c80319c",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01":  "",
		"00-<script>alert(1)</script>.......-b7ad6b7169203331-01":  "",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-011": "",
		"": "",
	} {
		if got := TraceOf(in); got != want {
			t.Errorf("TraceOf(%q) = %q, want %q", in, got, want)
		}
	}
}
