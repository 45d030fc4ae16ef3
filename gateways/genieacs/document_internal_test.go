package genieacs

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestLeaf_ANumberOfAMillionDigitsIsNoValue: a device says what its parameters have.
func TestLeaf_ANumberOfAMillionDigitsIsNoValue(t *testing.T) {
	t.Parallel()
	for digits, want := range map[string]bool{"42": true, strings.Repeat("9", 1_000_000): false} {
		d := document{"Device": json.RawMessage(`{"Uptime":{"_value":` + digits + `,"_writable":false}}`)}
		v, known := leaf(d.tree("Device"), "Uptime")
		if !known || (v.Value != nil) != want {
			t.Errorf("%d digits: %v, %v", len(digits), v.Value != nil, known)
		}
	}
}
