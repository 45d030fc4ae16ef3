package mobilemoney

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// PullWindow is how far back the provider lists payments. Source: docs/facts/mobile-money.md#missed-receipts.
const PullWindow = 48 * time.Hour

// PullSpan is the longest time of one question: in it, a time that is not said to be in a zone can be told apart.
const PullSpan = 150 * time.Minute

// operationPull names the question for payments; its answer may be long.
const operationPull = "pull"

// PullRegistration asks the provider to keep a shortcode's payments for being listed.
type PullRegistration struct {
	NominatedNumber string // phone of who answers for the shortcode; "" is refused by the live provider
	CallbackURL     string // has a secret token and is never logged
}

// PulledPayment is one payment to a shortcode, as the provider lists it.
type PulledPayment struct {
	ReceiptNumber string       // never empty
	PaidAt        time.Time    // UTC; the zero time when unreadable
	Amount        money.Amount // shillings, positive
	BillRef       string       // as the payer typed it
	MSISDN        string       // 254XXXXXXXXX, or as it came: masked or hashed
	Name          string       // of the payer; "" unless it has several words: else it is a code of the provider's
}

// LogValue leaves out the payer and what they typed.
func (p PulledPayment) LogValue() slog.Value {
	return slog.GroupValue(slog.String("receipt_number", p.ReceiptNumber))
}

// String leaves out the payer, so that fmt cannot print them.
func (p PulledPayment) String() string { return "pulled payment " + p.ReceiptNumber }

// PulledPage is a part of a list of payments. Rows counts what the provider sent, whatever it was: the next part begins
// after as many. Strange counts the rows that look like payments and cannot be read.
type PulledPage struct {
	Payments []PulledPayment
	Rows     int
	Strange  int
}

// RegisterPull registers a shortcode for being listed; one that is registered already is a success. It may be repeated.
// Fails: failure.Invalid, failure.Refused with the provider's words, failure.Unavailable.
func (c *Client) RegisterPull(ctx context.Context, creds Credentials, q PullRegistration) error {
	var faults failure.Faults
	u, err := url.Parse(q.CallbackURL)
	faults.Check(err == nil && u.Host != "", "callbackUrl", "must be a URL")
	for _, err := range []error{creds.check(), faults.Err()} {
		if err != nil {
			return err
		}
	}
	res := c.authorised(ctx, "register_pull", pathPullRegister, creds, struct {
		ShortCode, RequestType, NominatedNumber, CallBackURL string
	}{creds.ShortCode, "Pull", q.NominatedNumber, q.CallbackURL})
	if res.err != nil || res.refusal() != nil {
		return registeredOr(res.failed("register for pulling"))
	}
	var reply struct{ ResponseStatus, ResponseCode, ResponseDescription, ResponseMessage text }
	if err := json.Unmarshal(res.body, &reply); err != nil {
		return res.failed("register for pulling")
	}
	words := string(reply.ResponseDescription + reply.ResponseMessage)
	code := string(reply.ResponseStatus + reply.ResponseCode)
	if code == "1000" || code == "0" || saysRegistered(words) {
		return nil
	}
	return refusedWith(res.status, code, words)
}

// saysRegistered reports whether a text says that a shortcode was registered before.
func saysRegistered(words string) bool {
	return strings.Contains(strings.ToLower(words), "already registered")
}

// registeredOr makes a refusal because of an earlier registration a success.
func registeredOr(err error) error {
	if failure.KindOf(err) == failure.Refused && saysRegistered(err.Error()) {
		return nil
	}
	return err
}

// refusedWith makes the failure of an answer that refuses with a code in its body.
func refusedWith(status int, code, words string) error {
	refusal := &Refusal{Status: status, Code: code, Message: words}
	return &failure.Error{Kind: failure.Refused, Code: "provider_refused", Message: words, Cause: refusal}
}

// Pull lists the payments to a shortcode in a time that is at most PullWindow old, after an offset in rows. An empty
// page is the end. It may be repeated. Fails: failure.Invalid, failure.Refused with the provider's words,
// failure.Unavailable.
func (c *Client) Pull(ctx context.Context, creds Credentials, from, to time.Time, offset int) (PulledPage, error) {
	var faults failure.Faults
	faults.Check(from.Before(to) && to.Sub(from) <= PullSpan, "from", "must be before to, by PullSpan at most")
	for _, err := range []error{creds.check(), faults.Err()} {
		if err != nil {
			return PulledPage{}, err
		}
	}
	res := c.authorised(ctx, operationPull, pathPull, creds, struct {
		ShortCode, StartDate, EndDate, OffSetValue string
	}{creds.ShortCode, pullTime(from), pullTime(to), fmt.Sprint(offset)})
	if res.err != nil || res.refusal() != nil {
		return PulledPage{}, res.failed("pull payments")
	}
	var reply struct {
		ResponseCode, ResponseStatus, ResponseMessage, ResponseDescription text
		Response                                                           json.RawMessage
	}
	if err := json.Unmarshal(res.body, &reply); err != nil {
		return PulledPage{}, res.failed("pull payments")
	}
	switch code := string(reply.ResponseCode + reply.ResponseStatus); code {
	case "1000", "0":
	case "1001": // nothing in this time
		return PulledPage{}, nil
	default:
		return PulledPage{}, refusedWith(res.status, code, string(reply.ResponseMessage+reply.ResponseDescription))
	}
	var page PulledPage
	page.read(reply.Response, from, to, 0)
	return page, nil
}

// pullTime writes an instant as the provider wants it here, in East Africa Time.
func pullTime(at time.Time) string { return at.In(eastAfrica).Format("2006-01-02 15:04:05") }

// pulledRow is a payment on the wire. Source: docs/facts/mobile-money.md#missed-receipts.
type pulledRow struct {
	TransactionID   text `json:"transactionId"`
	Date            text `json:"trxDate"`
	MSISDN          text `json:"msisdn"`
	Sender          text `json:"sender"`
	TransactionType text `json:"transactiontype"`
	BillReference   text `json:"billreference"`
	Amount          text `json:"amount"`
}

// read adds the rows of an answer, which are a list, or a list of lists.
func (p *PulledPage) read(raw json.RawMessage, from, to time.Time, depth int) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, one := range list {
		if depth == 0 && len(one) > 0 && one[0] == '[' {
			p.read(one, from, to, 1)
			continue
		}
		p.Rows++
		var row pulledRow
		if json.Unmarshal(one, &row) != nil {
			p.Strange++
			continue
		}
		if kind := strings.ToLower(string(row.TransactionType)); kind != "" && !strings.HasPrefix(kind, "c2b") ||
			strings.Contains(kind, "revers") {
			continue // no money of a customer
		}
		payment, err := row.payment(from, to)
		if err != nil {
			p.Strange++
			continue
		}
		p.Payments = append(p.Payments, payment)
	}
}

// payment reads one row. It fails without a receipt number or a positive amount.
func (r pulledRow) payment(from, to time.Time) (PulledPayment, error) {
	number := strings.ToUpper(string(r.TransactionID))
	if !printable(number, maxIdentifier) {
		return PulledPayment{}, fmt.Errorf("no usable transactionId")
	}
	amount, err := shillings(r.Amount)
	if err != nil {
		return PulledPayment{}, err
	}
	phone, err := NormalizePhone(string(r.MSISDN))
	if err != nil {
		phone = string(r.MSISDN)
	}
	name := strings.Fields(string(r.Sender))
	if len(name) < 2 || strings.ContainsAny(string(r.Sender), "0123456789") {
		name = nil
	}
	return PulledPayment{
		ReceiptNumber: number, PaidAt: pulledTime(string(r.Date), from, to), Amount: amount,
		BillRef: string(r.BillReference), MSISDN: phone, Name: strings.Join(name, " "),
	}, nil
}

// pulledTime reads a time of a row, which lies between the ends of what was asked for; the zero time when it does not.
// The provider marks times as UTC that are in East Africa Time. In PullSpan or less only one of the two can be meant.
func pulledTime(s string, from, to time.Time) time.Time {
	for _, zone := range []*time.Location{time.UTC, eastAfrica} {
		for _, layout := range []string{
			"2006-01-02T15:04:05Z", "2006-01-02 15:04:05", "2006-01-02T15:04:05", stampLayout,
		} {
			at, err := time.ParseInLocation(layout, s, zone)
			if err == nil && !at.Before(from.Add(-time.Minute)) && !at.After(to.Add(time.Minute)) {
				return at.UTC()
			}
		}
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil && !at.Before(from.Add(-time.Minute)) &&
		!at.After(to.Add(time.Minute)) {
		return at.UTC()
	}
	return time.Time{}
}
