package billingviews_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// TestInvoices_PayablesAreThoseOfOneOrganization, as one by one: drafts and paid ones too, and nobody else's.
func TestInvoices_PayablesAreThoseOfOneOrganization(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.tell(t, acme, story()...)
	var asked []id.Invoice
	want := map[id.Invoice]billingviews.Payable{}
	for n := 1; n <= 7; n++ {
		asked = append(asked, invoiceID(n))
		one, err := k.invoices.Get(t.Context(), acme, invoiceID(n))
		if err != nil || one == nil {
			t.Fatalf("invoice %d: %v, %v", n, one, err)
		}
		want[one.ID] = billingviews.Payable{
			ID: one.ID, SubscriberID: one.SubscriberID, Number: one.Number, DueMinor: one.DueMinor,
			ToBeSigned: one.ToBeSigned,
		}
	}
	got, err := k.invoices.Payables(t.Context(), acme, append(asked, id.New[id.Invoice](), asked[0]))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if got, err := k.invoices.Payables(t.Context(), other, asked); err != nil || len(got) > 0 {
		t.Errorf("another organization reads %v, %v", got, err)
	}
}
