package directory_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// TestNamed_FindsLoginsAndVouchersThatWereUsed of the organization, and of no other one.
func TestNamed_FindsLoginsAndVouchersThatWereUsed(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Hour, 2)
	k := newKit(t, s, history...)
	k.accepted(typed(phone, v.codes[0]))
	used := directory.VoucherService(v.subject(0).VoucherID)
	for _, c := range []struct {
		org  id.Organization
		name string
		want id.Subscription
	}{
		{v.org, v.codes[0], used}, {v.org, v.codes[1], id.Subscription{}}, {v.org, "nobody", id.Subscription{}},
		{id.New[id.Organization](), v.codes[0], id.Subscription{}}, {v.org, "amina", v.subscription},
	} {
		if who, got := k.dir.Named(c.org, c.name, k.clock.Now()); got != c.want || who.IsZero() != c.want.IsZero() {
			t.Errorf("%s of %s: %s, %s", c.name, c.org, who, got)
		}
	}
}
