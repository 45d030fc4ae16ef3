package paymentsjobs

import (
	"encoding/json"
	"fmt"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
)

// CallbackBillManager is a payment reported by the bill manager.
const CallbackBillManager = "billmanager_payment"

// billManagerBody is such a payment on the wire; values may be texts or numbers. Source:
// docs/facts/mobile-money.md#bill-manager.
type billManagerBody struct {
	TransactionID    json.RawMessage `json:"transactionId"`
	PaidAmount       json.RawMessage `json:"paidAmount"`
	MSISDN           json.RawMessage `json:"msisdn"`
	AccountReference json.RawMessage `json:"accountReference"`
	ShortCode        json.RawMessage `json:"shortCode"`
}

// billManagerAnswer is what the bill manager wants to hear.
type billManagerAnswer struct {
	Message string `json:"resmsg"`
	Code    string `json:"rescode"`
}

// parseBillManager reads a payment as the paybill payment that it is: its transactionId is the same receipt number, so
// that the same money told twice is one receipt.
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
