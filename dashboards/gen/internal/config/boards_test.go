package config_test

import (
	"testing"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
)

func TestPage(t *testing.T) {
	c := config.Default()
	c.Boards.PageURL = "https://{cluster}.example.com/{job}/{instance}/debug/locks"
	const want = "https://${__data.fields.cluster}.example.com/${__data.fields.job}/${__data.fields.instance}/debug/locks"
	if got := c.Boards.Page(); got != want || c.Check() != nil {
		t.Errorf("%s, %v", got, c.Check())
	}
}
