package subscribersviews_test

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

func TestAccessQuery_SaysWhatEachIsEntitledToAndWhy(t *testing.T) {
	t.Parallel()
	v, _ := views(t, told())
	q := subscribersviews.AccessQuery{Views: v}
	for name, c := range map[string]struct {
		org     id.Organization
		who     id.Subscriber
		causes  []id.Any // a zero id fits any cause
		reasons []entitlement.Code
	}{
		"her money was taken back": {acme, amina, []id.Any{id.Any(inv2)}, []entitlement.Code{entitlement.CodeExpired}},
		"blocked, then forgotten": {
			acme, omar, []id.Any{{}, id.Any(line2)},
			[]entitlement.Code{entitlement.CodeBlocked, entitlement.CodeAwaitingPayment},
		},
		"blocked without a subscription": {
			other, brian, []id.Any{{}, id.Any(brian)},
			[]entitlement.Code{entitlement.CodeBlocked, entitlement.CodeNoSubscription},
		},
	} {
		row, err := q.Of(t.Context(), c.org, c.who, began.AddDate(0, 0, 7))
		if err != nil || row == nil {
			t.Errorf("%s: %+v, %v", name, row, err)
			continue
		}
		got := row.Entitlement
		var codes []entitlement.Code
		for n, r := range got.Reasons {
			codes = append(codes, r.Code)
			if n < len(c.causes) && !c.causes[n].IsZero() && r.Cause.ID != c.causes[n] || r.Cause.ID.IsZero() {
				t.Errorf("%s: %s is caused by %+v", name, r.Code, r.Cause)
			}
		}
		if !slices.Equal(codes, c.reasons) || got.Access != entitlement.None ||
			len(got.Services) != len(row.Subscriptions) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if row, err := q.Of(t.Context(), other, amina, began); row != nil || err != nil {
		t.Errorf("another organization's: %+v, %v", row, err)
	}
}
