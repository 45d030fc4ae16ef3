package documentsapi_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Money for a written-off invoice is no credit: the account owes nothing and has nothing afterwards.
func TestReceiptPDF_OfARecoveredLossNamesTheInvoiceAndNoCredit(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	made := k.invoice(t, "Router", 6000) // 1.5 of them
	k.do(t, k.org, commands.WriteOffDebt{SubscriberID: k.amina, WriteOffID: id.New[id.Receipt](), Reason: "gone"})
	receipt := k.payFor(t, 500000, "Book 7 page 13", made.ID)
	got := k.document(t, "/receipts/"+receipt.String()+"/pdf")
	expects(t, got, []string{"Written-off invoice " + made.Number, "5,000.00"},
		[]string{"Owed on the account after this payment", "KES 0.00"})
	if text := got.Text(); strings.Contains(text, "Not used") || strings.Contains(text, "Credit") {
		t.Errorf("the paper speaks of credit:\n%s", text)
	}
}

// What is set aside for a refund or went back to the payer is no credit either, and the paper says where it is.
func TestReceiptPDF_SaysWhatWasRefunded(t *testing.T) {
	t.Parallel()
	k := newDocumentsKit(t)
	k.invoice(t, "Router", 1000) // 1.5 of them
	receipt, refund, back := k.pay(t, 210075, "Book 7 page 14"), id.New[id.Refund](), money.Of(60075, money.KES)
	path := "/receipts/" + receipt.String() + "/pdf"
	k.do(t, k.org, commands.RequestRefund{
		RefundID: refund, OrgID: k.org, ReceiptID: receipt, SubscriberID: k.amina, Amount: back,
		By: commands.RefundManual, Reason: "too much",
	})
	k.do(t, k.org, commands.SetCreditAside{
		SubscriberID: k.amina, RefundID: refund, ReceiptID: receipt, Amount: back, Reason: "a refund was asked for",
	})
	k.do(t, k.org, commands.SecureRefund{RefundID: refund})
	expects(t, k.document(t, path), []string{"Set aside for a refund", "600.75"},
		[]string{"Owed on the account after this payment and its refund", "KES 0.00"})
	k.do(t, k.org, commands.ApproveRefund{RefundID: refund, OrgID: k.org})
	k.do(t, k.org, commands.SettleRefund{RefundID: refund, OrgID: k.org, Completed: true, Reference: "CHQ 12"})
	k.do(t, k.org, commands.PayOutSetAside{SubscriberID: k.amina, RefundID: refund})
	got := k.document(t, path)
	expects(t, got, []string{"Invoice ISP0-0001", "1,500.00"},
		[]string{"Refunded on 3 March 2026, number CHQ 12", "600.75"},
		[]string{"Owed on the account after this payment and its refund", "KES 0.00"})
	if text := got.Text(); strings.Contains(text, "Not used") || strings.Contains(text, "Credit") {
		t.Errorf("the paper speaks of credit:\n%s", text)
	}
}
