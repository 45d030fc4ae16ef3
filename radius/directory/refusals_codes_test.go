package directory

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
)

// TestRefusals_EveryCodeIsOneThatTheAPIDescribes reads the constants from the source, so that none can be forgotten.
func TestRefusals_EveryCodeIsOneThatTheAPIDescribes(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("refusals.go")
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	for _, found := range regexp.MustCompile(`Code = "([a-z_]+)"`).FindAllSubmatch(source, -1) {
		made = append(made, string(found[1]))
	}
	for r := radius.Accepted; r <= radius.TooMuchPending; r++ {
		if refuses(r) {
			made = append(made, r.String())
		}
	}
	described := telemetry.RefusalCodes()
	slices.Sort(made)
	slices.Sort(described)
	if diff := cmp.Diff(described, made); diff != "" {
		t.Errorf("-described +made\n%s", diff)
	}
}
