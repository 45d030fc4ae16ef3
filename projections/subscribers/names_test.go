package subscribersviews_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

func TestNames_AnotherOrganizationsAreNotGivenAndTheForgottenHaveNone(t *testing.T) {
	t.Parallel()
	v, _ := views(t, told())
	people := subscribersviews.SubscribersQuery{Views: v}
	asked := []id.Subscriber{amina, omar, id.New[id.Subscriber]()}
	for org, want := range map[id.Organization]map[id.Subscriber]string{
		acme: {amina: "Amina O'Tieno", omar: "forgotten"}, other: {},
	} {
		rows, err := people.Names(t.Context(), org, asked)
		got := map[id.Subscriber]string{}
		for _, r := range rows {
			got[r.ID] = "forgotten"
			if name := r.Name(); name != nil {
				got[r.ID] = *name
			}
			if r.AccountNumber == "" {
				t.Errorf("%s has no account number", r.ID)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("(-want +got): %v\n%s", err, diff)
		}
	}
}

func TestHolders_ANameIsFoundInAnyCaseAndInItsOrganizationAlone(t *testing.T) {
	t.Parallel()
	v, _ := views(t, told())
	lines := subscribersviews.SubscriptionsQuery{Views: v}
	for org, want := range map[id.Organization]map[string]id.Subscriber{
		acme: {"Amina.O": amina}, other: {},
	} {
		got, err := lines.Holders(t.Context(), org, []string{"Amina.O", "nobody", ""})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("(-want +got): %v\n%s", err, diff)
		}
	}
}
