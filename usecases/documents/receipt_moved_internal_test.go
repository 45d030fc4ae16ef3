package documentscases

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// TestReceiptPDF_OfMovedMoneyDoesNotSayWhoPaidIt: the paper goes to the customer who has it now.
func TestReceiptPDF_OfMovedMoneyDoesNotSayWhoPaidIt(t *testing.T) {
	t.Parallel()
	r := receipt{frame: frame{zone: time.UTC}, ReceiptRow: paymentsviews.ReceiptRow{
		PayerPhone: new("254712345678"), PayerName: new("Amina Otieno"), BillRef: new("ACC-AMINA"), Channel: "c2b",
	}}
	words := []string{"254712345678", "Amina Otieno", "ACC-AMINA"}
	for _, word := range words {
		if text := fmt.Sprint(r.facts()); !strings.Contains(text, word) {
			t.Errorf("%s is not among %s", word, text)
		}
	}
	r.Moves = []paymentsviews.Move{{From: id.New[id.Subscriber](), To: id.New[id.Subscriber]()}}
	for _, word := range words {
		if text := fmt.Sprint(r.facts()); strings.Contains(text, word) {
			t.Errorf("%s is among %s", word, text)
		}
	}
}

// TestReceiptDocument_SaysWhenAndAsWhatCashWasGiven, and when it was recorded where that was another day.
func TestReceiptDocument_SaysWhenAndAsWhatCashWasGiven(t *testing.T) {
	t.Parallel()
	r := receipt{frame: frame{zone: time.UTC}, ReceiptRow: paymentsviews.ReceiptRow{
		Channel: "cash", CashKind: "cheque", ReceivedOn: "2026-03-02",
		PaidAt: time.Date(2026, 3, 5, 9, 0, 0, 0, time.UTC),
	}}
	want := "[[Received 2 March 2026] [Recorded 5 March 2026, 09:00] [By cheque]"
	if got := fmt.Sprint(r.facts()); !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	r.ReceivedOn, r.CashKind = "2026-03-05", "cash"
	want = "[[Received 5 March 2026, 09:00] [Recorded ] [By cash]"
	if got := fmt.Sprint(r.facts()); !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}
