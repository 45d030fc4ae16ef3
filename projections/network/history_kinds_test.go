package networkviews_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/projections/network"
)

// TestHistoryKinds_AreThoseThatEventsAreToldBy reads them from the source, so that none can be forgotten.
func TestHistoryKinds_AreThoseThatEventsAreToldBy(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("history.go")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, found := range regexp.MustCompile(`return "([a-z_]+)",`).FindAllSubmatch(source, -1) {
		told = append(told, string(found[1]))
	}
	slices.Sort(told)
	listed := networkviews.HistoryKinds()
	slices.Sort(listed)
	if diff := cmp.Diff(listed, slices.Compact(told)); diff != "" {
		t.Errorf("-listed +told\n%s", diff)
	}
}
