package cpejobs

import (
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
)

// TestAlike_KnowsTheWaysToWriteAValue: those of truth and of an instant.
func TestAlike_KnowsTheWaysToWriteAValue(t *testing.T) {
	t.Parallel()
	const instant = "2026-03-01T09:00:00Z"
	for _, c := range []struct {
		got  genieacs.Value
		want string
		same bool
	}{
		{genieacs.Value{Value: true}, "1", true}, {genieacs.Value{Value: true}, "false", false},
		{genieacs.Value{Value: "2026-03-01T09:00:00.000Z", Type: "xsd:dateTime"}, instant, true},
		{genieacs.Value{Value: "2026-03-01T09:00:01.000Z", Type: "xsd:dateTime"}, instant, false},
		{genieacs.Value{Value: "2026-03-01T09:00:00.000Z", Type: "xsd:string"}, instant, false},
		{genieacs.Value{Value: "never", Type: "xsd:dateTime"}, "never", true},
	} {
		if got := alike(c.got, c.want); got != c.same {
			t.Errorf("%v and %s: %t", c.got, c.want, got)
		}
	}
}
