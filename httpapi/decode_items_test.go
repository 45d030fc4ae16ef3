package httpapi

import (
	"strings"
	"testing"
)

// TestDecode_AListMayHaveItsOwnLength: a tag of its field says how many items it has at most.
func TestDecode_AListMayHaveItsOwnLength(t *testing.T) {
	t.Parallel()
	var in struct {
		Usual []int `json:"usual,omitempty"`
		Long  []int `json:"long,omitempty" items:"30000"`
	}
	body := func(name string, items int) []byte {
		return []byte(`{"` + name + `":[` + strings.Repeat("1,", items-1) + `1]}`)
	}
	for _, c := range []struct {
		name  string
		items int
		want  bool
	}{{"usual", maxItems, true}, {"usual", maxItems + 1, false}, {"long", 30_000, true}, {"long", 30_001, false}} {
		if err := decode(body(c.name, c.items), &in); (err == nil) != c.want {
			t.Errorf("%d items of %s: %v", c.items, c.name, err)
		}
	}
	if len(in.Usual) != maxItems || len(in.Long) != 30_000 {
		t.Errorf("read %d and %d", len(in.Usual), len(in.Long))
	}
}
