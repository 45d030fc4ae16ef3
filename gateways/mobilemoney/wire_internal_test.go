package mobilemoney

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
)

// FuzzPlainNumber compares with exact rational arithmetic: the plain notation has the same value.
func FuzzPlainNumber(f *testing.F) {
	for _, seed := range []string{
		"0", "1", "1.00", "-0.0", "1.5E2", "2.54700000001E11", "1e-40", "0.001e3", "1e999999999",
		"12345678901234567890.123456789",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var n json.Number
		if s == "" || s[0] == '"' || json.Unmarshal([]byte(s), &n) != nil || n == "" {
			return // UnmarshalJSON sees JSON numbers only
		}
		plain, err := plainNumber(string(n))
		if err != nil {
			return
		}
		want, ok := new(big.Rat).SetString(string(n))
		got, plainOK := new(big.Rat).SetString(plain)
		if !ok || !plainOK || want.Cmp(got) != 0 || strings.ContainsAny(plain, "eE+") {
			t.Errorf("%s became %s", n, plain)
		}
	})
}
