package vault_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// TestBookChecks_ATryThatCameToNoEndKeepsTheResultOfBefore: also for the platform, which is the zero id.
func TestBookChecks_ATryThatCameToNoEndKeepsTheResultOfBefore(t *testing.T) {
	t.Parallel()
	v, org, platform := open(t), id.New[id.Organization](), id.Organization{}
	faults := map[string]int{"claim_missing": 2}
	for _, step := range []error{
		v.BookChecks.Try(t.Context(), platform, start), v.BookChecks.Try(t.Context(), org, start),
		v.BookChecks.Keep(t.Context(), org, start, faults), v.BookChecks.Try(t.Context(), org, start.Add(time.Hour)),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	got, err := v.BookChecks.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[id.Organization]vault.BookCheck{
		platform: {TriedAt: start, Faults: map[string]int{}},
		org:      {TriedAt: start.Add(time.Hour), CheckedAt: start, Faults: faults},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}
