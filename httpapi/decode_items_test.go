package httpapi

import (
	"encoding/json"
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

// TestDecode_ANumberOfAMillionDigitsIsRefusedBeforeItIsOne, whatever kind of number the field takes.
func TestDecode_ANumberOfAMillionDigitsIsRefusedBeforeItIsOne(t *testing.T) {
	t.Parallel()
	var in struct {
		Amount  Amount             `json:"amount,omitzero"`
		Maybe   *Amount            `json:"maybe,omitempty"`
		Amounts []Amount           `json:"amounts,omitempty"`
		Count   int                `json:"count,omitempty"`
		Part    float64            `json:"part,omitempty"`
		Number  json.Number        `json:"number,omitempty"`
		Free    json.RawMessage    `json:"free,omitempty"`
		Within  struct{ N Amount } `json:"within,omitzero"`
	}
	digits := strings.Repeat("9", 1_000_000)
	for _, body := range []string{
		`"amount":` + digits, `"maybe":-` + digits, `"amounts":[1,` + digits + `]`, `"count":` + digits,
		`"part":0.` + digits, `"number":` + digits, `"free":` + digits, `"within":{"N":` + digits + `}`,
		`"amount":1` + strings.Repeat("0", 40),
	} {
		err := decode([]byte("{"+body+"}"), &in)
		const want = "must be a number of at most 40 characters"
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("%.20s: %.200v", body, err)
		}
	}
	if err := decode([]byte(`{"amount":92233720368547758.07,"part":1e300}`), &in); err != nil {
		t.Errorf("ordinary ones: %v", err)
	}
}
