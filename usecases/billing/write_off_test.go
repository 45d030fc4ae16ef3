package billingcases_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

func TestWriteOff_IsOnceUnderAKeyAndSaysWhy(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	u := billingcases.WriteOffs{Bus: k.Bus}
	invoice := k.issued(t) // 1,740
	in := billingcases.WriteOffInput{SubscriberID: k.amina, Amount: new(usecases.Figure("740")), Reason: "moved away"}
	asked := coretest.Keyed(k.acme)
	for range 2 {
		if _, err := u.WriteOff(t.Context(), asked, in); err != nil {
			t.Fatal(err)
		}
	}
	if left := k.account(t).Invoices[invoice].Due; left != money.Major(1000, money.KES) {
		t.Errorf("%s is left", left)
	}
	var told []events.DebtWrittenOff
	for _, e := range k.log(t) {
		if v, ok := e.Event.(events.DebtWrittenOff); ok {
			told = append(told, v)
			if e.Meta.Why() != "moved away" || v.Reason.Reveal() != "moved away" {
				t.Errorf("because of %q and %q", e.Meta.Why(), v.Reason.Reveal())
			}
		}
	}
	if len(told) != 1 {
		t.Errorf("written off %d times", len(told))
	}
}

// Of another organization's customer nobody learns even that there is one.
func TestWriteOff_OfAnotherOrganizationsCustomerIsRefusedAsUnknown(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.issued(t)
	u := billingcases.WriteOffs{Bus: k.Bus}
	in := billingcases.WriteOffInput{SubscriberID: k.amina, Reason: "moved away"}
	_, err := u.WriteOff(t.Context(), coretest.Ask(k.other), in)
	coretest.Refused(t, "from another organization", err, "subscriber_not_found")
	if due := k.account(t).Due(); due != money.Major(1740, money.KES) {
		t.Errorf("%s is due", due)
	}
}
