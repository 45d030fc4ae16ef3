package billingviews_test

import "testing"

func TestInvoices_APrefixIsOpenWhileAnInvoiceWaitsForMoney(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.tell(t, acme, story()...)
	for prefix, want := range map[string]bool{"ACME": true, "ACM": false, "NET": false} {
		if got, err := k.invoices.PrefixOpen(t.Context(), acme, prefix); err != nil || got != want {
			t.Errorf("%s: open %v, %v", prefix, got, err)
		}
	}
	if got, err := k.invoices.PrefixOpen(t.Context(), other, "ACME"); err != nil || got {
		t.Errorf("another organization's invoices count: %v, %v", got, err)
	}
}
