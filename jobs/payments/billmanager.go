package paymentsjobs

import (
	"encoding/json"
	"fmt"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
)

// CallbackBillManager is the inbox's kind of a payment that the bill manager reports.
const CallbackBillManager = "billmanager_payment"

// billManagerBody has the fields of the report that we use; values may be texts or numbers. Source:
// docs/facts/mobile-money.md#bill-manager.
type billManagerBody struct {
	TransactionID    json.RawMessage `json:"transactionId"`
	PaidAmount       json.RawMessage `json:"paidAmount"`
	MSISDN           json.RawMessage `json:"msisdn"`
	AccountReference json.RawMessage `json:"accountReference"`
	ShortCode        json.RawMessage `json:"shortCode"`
}

// billManagerAnswer acknowledges a payment; without it the bill manager reports the payment again.
type billManagerAnswer struct {
	Message string `json:"resmsg"`
	Code    string `json:"rescode"`
}

// parseBillManager reads the report as a paybill payment. Its transactionId is the provider's receipt number, so money
// that is reported on both ways becomes one receipt.
func parseBillManager(body []byte) (mobilemoney.C2B, error) {
	var raw billManagerBody
	if err := json.Unmarshal(body, &raw); err != nil {
		return mobilemoney.C2B{}, fmt.Errorf("read bill manager payment: %w", err)
	}
	fields := map[string]json.RawMessage{}
	for name, value := range map[string]json.RawMessage{
		"TransID": raw.TransactionID, "TransAmount": raw.PaidAmount, "MSISDN": raw.MSISDN,
		"BillRefNumber": raw.AccountReference, "BusinessShortCode": raw.ShortCode,
	} {
		if value != nil {
			fields[name] = value
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return mobilemoney.C2B{}, fmt.Errorf("read bill manager payment: %w", err)
	}
	return mobilemoney.ParseC2B(text)
}
