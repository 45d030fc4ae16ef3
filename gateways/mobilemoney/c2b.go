package mobilemoney

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/internal/money"
)

// C2B is a paybill payment from a validation or a confirmation. Whether it is true depends on the proof of its sender.
type C2B struct {
	TransactionType   string
	ReceiptNumber     string       // TransID; never empty
	PaidAt            time.Time    // UTC; the zero time when unreadable
	Amount            money.Amount // shillings, positive
	ShortCode         string       // never empty
	BillRef           string       // typed by the customer, trimmed at the ends; any case; may be empty
	InvoiceNumber     string
	ThirdPartyTransID string // the id that our answer to the validation gave
	OrgAccountBalance string // of the shortcode after the payment: a decimal text as it came; may be empty
	MSISDN            string // as it came: clear, masked or hashed
	FirstName         string
	MiddleName        string
	LastName          string
}

// Phone gives the payer's phone as 254XXXXXXXXX; false when it came masked or hashed and identifies no payer.
func (c C2B) Phone() (string, bool) {
	phone, err := NormalizePhone(c.MSISDN)
	return phone, err == nil
}

// LogValue leaves out the payer and the reference that they typed.
func (c C2B) LogValue() slog.Value {
	return slog.GroupValue(slog.String("receipt_number", c.ReceiptNumber), slog.String("short_code", c.ShortCode))
}

// String leaves out the payer and the reference, so that fmt cannot print them.
func (c C2B) String() string { return "paybill payment " + c.ReceiptNumber }

// c2bBody is the callback on the wire. Source: docs/facts/mobile-money.md#c2b.
type c2bBody struct {
	TransactionType   text
	TransID           text
	TransTime         text
	TransAmount       text
	BusinessShortCode text
	BillRefNumber     text
	InvoiceNumber     text
	ThirdPartyTransID text
	OrgAccountBalance json.RawMessage // only kept: no form of it makes the callback unreadable
	MSISDN            text
	FirstName         text
	MiddleName        text
	LastName          text
}

// ParseC2B reads a C2B validation or confirmation; both have the same fields. A body without receipt number, shortcode
// or positive amount is an error.
func ParseC2B(body []byte) (C2B, error) {
	var raw c2bBody
	if err := decode(body, &raw); err != nil {
		return C2B{}, fmt.Errorf("read paybill callback: %w", err)
	}
	switch {
	case !printable(string(raw.TransID), maxIdentifier):
		return C2B{}, errors.New("read paybill callback: no usable TransID")
	case !printable(string(raw.BusinessShortCode), maxIdentifier):
		return C2B{}, errors.New("read paybill callback: no usable BusinessShortCode")
	}
	amount, err := shillings(raw.TransAmount)
	if err != nil {
		return C2B{}, fmt.Errorf("read paybill callback %s: %w", raw.TransID, err)
	}
	return C2B{
		TransactionType: string(raw.TransactionType), ReceiptNumber: string(raw.TransID),
		PaidAt: instant(raw.TransTime), Amount: amount, ShortCode: string(raw.BusinessShortCode),
		BillRef: string(raw.BillRefNumber), InvoiceNumber: shortened(raw.InvoiceNumber),
		ThirdPartyTransID: shortened(raw.ThirdPartyTransID), OrgAccountBalance: balance(raw.OrgAccountBalance),
		MSISDN: string(raw.MSISDN), FirstName: string(raw.FirstName), MiddleName: string(raw.MiddleName),
		LastName: string(raw.LastName),
	}, nil
}

// balance gives a text or a number as it came, and "" for anything else.
func balance(raw json.RawMessage) string {
	var t text
	if len(raw) == 0 || t.UnmarshalJSON(raw) != nil {
		return ""
	}
	return shortened(t)
}

// shortened gives a field that is kept although nothing depends on it; a text of unusual length or with control
// characters is dropped.
func shortened(t text) string {
	if !printable(string(t), maxIdentifier) {
		return ""
	}
	return string(t)
}
