package mobilemoney

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/money"
)

// Result is the provider's message about a request that it acknowledged: a status request, or a reversal. Whether it
// is true depends on the proof of its sender. Source: docs/facts/mobile-money.md#asynchronous-calls.
type Result struct {
	Code                     string // never empty; "0" = the request was done
	Text                     string
	OriginatorConversationID string
	ConversationID           string
	TransactionID            string   // of the request itself: of a reversal the number of the payment back
	ReceiptNumber            string   // of the transaction that was asked about, "" when unknown
	OriginalNumber           string   // of a reversal: the payment that was sent back, "" when not told
	Status                   string   // of the transaction that was asked about, in the provider's word
	Kind                     LineKind // of the transaction that was asked about, by its reason type; "" when not known
	Amount                   money.Amount
	FinalisedAt              time.Time // UTC; the zero time when absent or unreadable
	Debit, Credit            Party     // who paid, and who was paid
}

// Party is one side of a transaction: a phone or a shortcode, and the name that the provider has for it.
type Party struct{ Number, Name string }

// Done reports whether the request itself was done.
func (r Result) Done() bool { return r.Code == "0" }

// Completed reports whether the transaction that was asked about has moved its money.
func (r Result) Completed() bool { return r.Done() && strings.EqualFold(r.Status, "Completed") }

// Reversed reports whether the transaction that was asked about was sent back.
func (r Result) Reversed() bool { return r.Done() && strings.EqualFold(r.Status, "Reversed") }

// LogValue leaves out the parties.
func (r Result) LogValue() slog.Value {
	return slog.GroupValue(slog.String("conversation_id", r.ConversationID), slog.String("result_code", r.Code))
}

// String leaves out the parties, so that fmt cannot print them.
func (r Result) String() string { return "result of " + r.ConversationID }

// resultEnvelope is a result on the wire.
type resultEnvelope struct {
	Result *struct {
		ResultCode, ResultDesc                   text
		OriginatorConversationID, ConversationID text
		TransactionID                            text
		ResultParameters                         *struct {
			ResultParameter parameters
		}
	}
}

// parameter is one entry of a result; its value is read for known keys only.
type parameter struct {
	Key   string
	Value json.RawMessage
}

// parameters are the entries of a result. The provider writes a single one without a list.
type parameters []parameter

// UnmarshalJSON accepts a list, one entry or null.
func (p *parameters) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var one parameter
		err := json.Unmarshal(b, &one)
		*p = parameters{one}
		return err
	}
	var list []parameter
	err := json.Unmarshal(b, &list)
	*p = list
	return err
}

// ParseResult reads a result. One without a code is an error; so is one with two values of one key, because money is
// never guessed.
func ParseResult(body []byte) (Result, error) {
	var envelope resultEnvelope
	if err := decode(body, &envelope); err != nil {
		return Result{}, fmt.Errorf("read result: %w", err)
	}
	raw := envelope.Result
	if raw == nil || !printable(string(raw.ResultCode), maxIdentifier) {
		return Result{}, errors.New("read result: no usable ResultCode")
	}
	r := Result{
		Code: string(raw.ResultCode), Text: string(raw.ResultDesc), TransactionID: shortened(raw.TransactionID),
		OriginatorConversationID: shortened(raw.OriginatorConversationID),
		ConversationID:           shortened(raw.ConversationID),
	}
	if raw.ResultParameters == nil {
		return r, nil
	}
	if err := r.readParameters(raw.ResultParameters.ResultParameter); err != nil {
		return Result{}, fmt.Errorf("read result %s: %w", r.ConversationID, err)
	}
	return r, nil
}

// readParameters reads the known entries.
func (r *Result) readParameters(list []parameter) error {
	known := map[string]text{}
	for _, p := range list {
		switch p.Key {
		case "ReceiptNo", "Amount", "TransactionStatus", "FinalisedTime", "DebitPartyName", "CreditPartyName",
			"OriginalTransactionID", "ReasonType":
		default:
			continue
		}
		var value text
		if len(p.Value) > 0 {
			if err := value.UnmarshalJSON(p.Value); err != nil {
				return fmt.Errorf("parameter %s: %w", p.Key, err)
			}
		}
		if other, told := known[p.Key]; told && other != value {
			return fmt.Errorf("parameter %s has two values", p.Key)
		}
		known[p.Key] = value
	}
	r.ReceiptNumber, r.OriginalNumber = shortened(known["ReceiptNo"]), shortened(known["OriginalTransactionID"])
	r.Status, r.FinalisedAt = shortened(known["TransactionStatus"]), instant(known["FinalisedTime"])
	r.Kind = kindOfWords(providersWords(string(known["ReasonType"])))
	r.Debit, r.Credit = party(known["DebitPartyName"]), party(known["CreditPartyName"])
	if amount := known["Amount"]; amount != "" {
		var err error
		r.Amount, err = shillings(amount)
		return err
	}
	return nil
}

// party reads "254712345678 - JANE DOE" or "600100 - SHOP".
func party(t text) Party {
	number, name, _ := strings.Cut(string(t), " - ")
	return Party{Number: strings.TrimSpace(number), Name: strings.Join(strings.Fields(name), " ")}
}
