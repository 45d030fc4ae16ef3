package mobilemoney

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/internal/money"
)

// maxCallback bounds a callback's body, in bytes. Real ones are under 2 KiB.
const maxCallback = 256 << 10

// maxIdentifier bounds receipt numbers and request ids, in bytes.
const maxIdentifier = 100

// STKCallback is the result of a prompt as a callback reports it. Whether it is true depends on the proof of its sender
// (docs/rules/money.md#verified-sightings).
type STKCallback struct {
	MerchantRequestID string
	CheckoutRequestID string // never empty
	ResultCode        string // never empty
	ResultDesc        string
	// ReceiptNumber may be empty even on success: then the callback leads to a status query and not to a receipt.
	ReceiptNumber string
	Amount        money.Amount // shillings; the zero amount when absent
	PaidAt        time.Time    // UTC; the zero time when absent or unreadable
	Phone         string       // as it came; it may be masked or missing
}

// Verdict classifies the result code like the answer to a status query.
func (c STKCallback) Verdict() Verdict { return VerdictOf(c.ResultCode, c.ResultDesc) }

// LogValue leaves out the phone.
func (c STKCallback) LogValue() slog.Value {
	return slog.GroupValue(slog.String("checkout_request_id", c.CheckoutRequestID),
		slog.String("result_code", c.ResultCode),
		slog.String("receipt_number", c.ReceiptNumber))
}

// String leaves out the phone, so that fmt cannot print it.
func (c STKCallback) String() string { return "prompt callback for " + c.CheckoutRequestID }

// stkEnvelope is the callback on the wire. Source: docs/facts/mobile-money.md#prompt-callback.
type stkEnvelope struct {
	Body struct {
		StkCallback *struct {
			MerchantRequestID text
			CheckoutRequestID text
			ResultCode        text
			ResultDesc        text
			CallbackMetadata  *struct {
				Item []stkItem
			}
		} `json:"stkCallback"`
	}
}

// stkItem is one entry of the metadata. The value is parsed only for known names, so that new entries do no harm.
type stkItem struct {
	Name  string
	Value json.RawMessage
}

// ParseSTKCallback reads the result of a prompt. It accepts both names of the receipt number, and numbers or texts for
// every value.
func ParseSTKCallback(body []byte) (STKCallback, error) {
	var envelope stkEnvelope
	if err := decode(body, &envelope); err != nil {
		return STKCallback{}, fmt.Errorf("read prompt callback: %w", err)
	}
	raw := envelope.Body.StkCallback
	if raw == nil {
		return STKCallback{}, errors.New("read prompt callback: no Body.stkCallback")
	}
	c := STKCallback{
		MerchantRequestID: string(raw.MerchantRequestID), CheckoutRequestID: string(raw.CheckoutRequestID),
		ResultCode: string(raw.ResultCode), ResultDesc: string(raw.ResultDesc),
	}
	switch {
	case !printable(c.CheckoutRequestID, maxIdentifier):
		return STKCallback{}, errors.New("read prompt callback: no usable CheckoutRequestID")
	case !printable(c.ResultCode, maxIdentifier):
		return STKCallback{}, errors.New("read prompt callback: no usable ResultCode")
	}
	if raw.CallbackMetadata == nil {
		return c, nil
	}
	if err := c.readItems(raw.CallbackMetadata.Item); err != nil {
		return STKCallback{}, fmt.Errorf("read prompt callback %s: %w", c.CheckoutRequestID, err)
	}
	return c, nil
}

// readItems reads the known entries of the metadata. Two entries of one name with different values are an error: money
// is never guessed.
func (c *STKCallback) readItems(items []stkItem) error {
	known := map[string]text{}
	for _, entry := range items {
		name := entry.Name
		switch name {
		case "MpesaReceiptNumber":
			name = "MobileMoneyReceiptNumber" // sandbox and live names differ
		case "MobileMoneyReceiptNumber", "Amount", "TransactionDate", "PhoneNumber":
		default:
			continue
		}
		var value text
		if len(entry.Value) > 0 {
			if err := value.UnmarshalJSON(entry.Value); err != nil {
				return fmt.Errorf("item %s: %w", name, err)
			}
		}
		if value == "" {
			continue
		}
		if other, told := known[name]; told && other != value {
			return fmt.Errorf("item %s has two values", name)
		}
		known[name] = value
	}
	c.ReceiptNumber, c.Phone = string(known["MobileMoneyReceiptNumber"]), string(known["PhoneNumber"])
	c.PaidAt = instant(known["TransactionDate"])
	if c.ReceiptNumber != "" && !printable(c.ReceiptNumber, maxIdentifier) {
		return errors.New("receipt number is not usable")
	}
	if amount, told := known["Amount"]; told {
		var err error
		c.Amount, err = shillings(amount)
		return err
	}
	return nil
}

// decode parses one JSON document of at most maxCallback bytes.
func decode(body []byte, into any) error {
	if len(body) > maxCallback {
		return errors.New("body is too large")
	}
	return json.Unmarshal(body, into)
}
