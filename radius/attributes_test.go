package radius_test

import (
	"strings"
	"testing"

	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/radius"
)

// TestAttributes_ATextIsCutBetweenCharacters: a router that shows half a character shows the whole text wrongly.
func TestAttributes_ATextIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text        string
		all, vendor int // octets that remain in an attribute, and in one of MikroTik
	}{
		{"short é", 8, 8}, {strings.Repeat("x", 300), 253, 247}, {strings.Repeat("é", 150), 252, 246},
		{strings.Repeat("無", 100), 252, 246}, {strings.Repeat("🐘", 70), 252, 244},
		{"x" + strings.Repeat("é", 150), 253, 247}, {strings.Repeat("\x80", 300), 253, 247},
	} {
		if got := (radius.Attributes{}).Text(rfc2865.FilterID_Type, c.text); string(got[2:]) != c.text[:c.all] {
			t.Errorf("%.6q…: %q", c.text, got[2:])
		}
		if got := (radius.Attributes{}).MikroTik(8, c.text); string(got[8:]) != c.text[:c.vendor] {
			t.Errorf("%.6q… for MikroTik: %q", c.text, got[8:])
		}
	}
}
