package paymentsapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// TestReceipts_ACustomerDoesNotSeeWhoseMovedMoneyWas: staff do, and of money that was not moved the customer does, too.
func TestReceipts_ACustomerDoesNotSeeWhoseMovedMoneyWas(t *testing.T) {
	t.Parallel()
	payment := id.New[id.Payment]()
	shown := func(moved, toCustomer bool) string {
		row := paymentsviews.ReceiptRow{
			ID: id.New[id.Receipt](), Currency: money.KES, AmountMinor: 100, PayerPhone: new("254712345678"),
			PayerName: new("Amina Otieno"), BillRef: new("ACC-AMINA"), InvoiceNumber: new("INV-AMINA"),
			PaymentID: payment,
		}
		if moved {
			row.Moves = []paymentsviews.Move{{From: id.New[id.Subscriber](), To: id.New[id.Subscriber]()}}
		}
		r := showDetail(receiptDetail{row: row})
		if toCustomer {
			r.ForCustomer()
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, word := range []string{"254712345678", "Amina Otieno", "ACC-AMINA", "INV-AMINA", payment.String()} {
		if strings.Contains(shown(true, true), word) {
			t.Errorf("the customer reads %s of another one", word)
		}
		if !strings.Contains(shown(true, false), word) || !strings.Contains(shown(false, true), word) {
			t.Errorf("%s is hidden from staff, or from whose money it is", word)
		}
	}
}
