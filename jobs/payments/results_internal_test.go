package paymentsjobs

import (
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
)

// TestPaidTo_WhatTheProviderNamesNoPaymentIsNone: somebody asks about the number of a loan or of a reversal, whose
// money came to the shortcode as well.
func TestPaidTo_WhatTheProviderNamesNoPaymentIsNone(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]bool{
		"": true, "Pay Utility": true, "Pay Utility with OD via STK": true, "Business Pay Bill": true,
		"Anything":               true,
		"Term Loan Disbursement": false, "Pay Utility Reversal": false, "Funds Transfer": false,
		"Salary Payment via API": false,
	} {
		r, err := mobilemoney.ParseResult(fmt.Appendf(nil, `{"Result": {"ResultCode": 0, "ResultParameters": {
			"ResultParameter": [{"Key": "ReceiptNo", "Value": "TESTA00001"}, {"Key": "Amount", "Value": 500},
			{"Key": "TransactionStatus", "Value": "Completed"}, {"Key": "ReasonType", "Value": %q},
			{"Key": "DebitPartyName", "Value": "254700000111 - A"},
			{"Key": "CreditPartyName", "Value": "600100 - X"}]}}}`,
			reason))
		if err != nil {
			t.Fatal(err)
		}
		if got := paidTo(r, "600100"); got != want {
			t.Errorf("%q is a payment: %v", reason, got)
		}
	}
}
