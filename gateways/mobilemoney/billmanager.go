package mobilemoney

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// The prefixes of the bill manager; that of production is really doubled. Source: docs/facts/mobile-money.md#paths.
const (
	billsSandbox    = "/v1/billmanager-invoice/"
	billsProduction = billsSandbox + "v1/billmanager-invoice/"
)

// MaxBills is how many bills one call takes. Source: docs/facts/mobile-money.md#bill-manager.
const MaxBills = 1000

// CodeAppKeyRefused is the code of the failure when the bill manager does not accept the key of the opt-in. It looks at
// the key before it acts.
const CodeAppKeyRefused = "bill_manager_key_refused"

// Bills is a client of the bill manager in one environment. Safe for concurrent use.
type Bills struct {
	client *Client
	prefix string
}

// NewBills makes a client of an environment's bill manager; nothing is called yet.
func NewBills(client *Client, environment Environment) *Bills {
	b := &Bills{client: client, prefix: billsSandbox}
	if environment == Production {
		b.prefix = billsProduction
	}
	return b
}

// Ready fails with failure.Unavailable and RetryAfter while the breaker of the provider is open.
func (b *Bills) Ready() error { return b.client.Ready() }

// Account is how the bill manager knows us: the credentials, and the key that the opt-in gave. Its methods hide both.
type Account struct {
	Credentials
	AppKey secrets.Text
}

// String shows the shortcode only.
func (a Account) String() string { return "bill manager of " + a.ShortCode }

// GoString hides the secrets from %#v, too.
func (a Account) GoString() string { return a.String() }

// OptIn says who answers for a shortcode at the bill manager.
type OptIn struct {
	Email       string
	Phone       string // official contact
	Reminders   bool   // the bill manager reminds customers 7, 3 and 0 days before the due date
	CallbackURL string // to which payments are reported
}

// Bill is an invoice as the bill manager gets it.
type Bill struct {
	Reference        string // unique among all that were ever sent; a cancellation names it
	Name             string // of the customer
	Phone            string // in any form that NormalizePhone takes
	Period           string // that the bill is for, in words
	InvoiceName      string
	DueOn            calendar.Date
	AccountReference string // what the customer pays under
	Amount           money.Amount
	Items            []BillItem
}

// BillItem is one line of a bill.
type BillItem struct {
	Name   string
	Amount money.Amount
}

// LogValue leaves out the customer.
func (b Bill) LogValue() slog.Value { return slog.GroupValue(slog.String("reference", b.Reference)) }

// String leaves out the customer, so that fmt cannot print them.
func (b Bill) String() string { return "bill " + b.Reference }

// BillPayment is a payment through the bill manager, as it is acknowledged there.
type BillPayment struct {
	PaidAt           time.Time
	Amount           money.Amount
	AccountReference string
	TransactionID    string // the receipt number
	Phone            string // of the payer, as it came
	Name             string // of the customer
	InvoiceName      string
	Reference        string // of the bill
}

// LogValue leaves out the payer.
func (p BillPayment) LogValue() slog.Value {
	return slog.GroupValue(slog.String("receipt_number", p.TransactionID))
}

// String leaves out the payer, so that fmt cannot print them.
func (p BillPayment) String() string { return "payment of bill " + p.Reference }

// BillOutcome tells what became of a call.
type BillOutcome uint8

// The outcomes. A call in doubt may have been taken, whole or in part.
const (
	BillInDoubt BillOutcome = iota
	BillTaken
	BillRefused
	BillNotSent
	BillUnknown // of a cancellation: the bill manager has no such bill
)

// BillAnswer is the end of a call. Refusal is set when the provider refused it, Cause when it was not sent or is in
// doubt.
type BillAnswer struct {
	Outcome BillOutcome
	Refusal *Refusal
	Cause   error
}

// billReply has the parts of an answer that we use. Source: docs/facts/mobile-money.md#bill-manager.
type billReply struct {
	Code    text `json:"rescode"`
	Message text `json:"resmsg"`
	Status  text `json:"Status_Message"`
	AppKey  text `json:"app_key"`
}

// OptIn makes a shortcode known to the bill manager and gives the key of its later calls. A repeat gives another key.
// Fails: failure.Invalid, failure.Refused with the provider's words, failure.Unavailable.
func (b *Bills) OptIn(ctx context.Context, creds Credentials, q OptIn) (secrets.Text, error) {
	var f failure.Faults
	f.Check(q.Email != "", "email", "is required")
	f.Check(q.CallbackURL != "", "callbackUrl", "is required")
	phone, err := NormalizePhone(q.Phone)
	f.Check(err == nil, "phone", "must be a phone number")
	if err := cmp.Or(creds.check(), f.Err()); err != nil {
		return "", err
	}
	reminders := "0"
	if q.Reminders {
		reminders = "1"
	}
	res := b.client.authorised(ctx, "bill_opt_in", b.prefix+"optin", creds, map[string]string{
		"shortcode": creds.ShortCode, "email": q.Email, "officialContact": phone, "sendReminders": reminders,
		"callbackurl": q.CallbackURL,
	})
	reply, answer := b.read(res)
	switch {
	case answer.Outcome == BillTaken && reply.AppKey != "":
		return secrets.Text(reply.AppKey), nil
	case answer.Outcome == BillRefused:
		return "", refusedWith(answer.Refusal.Status, answer.Refusal.Code, answer.Refusal.Message)
	}
	return "", unavailable(fmt.Errorf("opt in: %w", cmp.Or(answer.Cause, errors.New("the answer has no key"))))
}

// Send hands bills over, at most MaxBills. One alone is sent as a single one. A refusal of many does not say which bill
// is at fault; none of them was made. Fails: failure.Invalid for a bill that is not sent, CodeAppKeyRefused.
func (b *Bills) Send(ctx context.Context, by Account, bills []Bill) (BillAnswer, error) {
	if len(bills) == 0 || len(bills) > MaxBills {
		return BillAnswer{}, failure.NewInvalid("invalid_input", "a call takes 1 to 1000 bills")
	}
	list := make([]map[string]any, 0, len(bills))
	for _, bill := range bills {
		body, err := bill.body()
		if err != nil {
			return BillAnswer{}, err
		}
		list = append(list, body)
	}
	if len(bills) == 1 {
		return b.do(ctx, by, "single-invoicing", list[0])
	}
	return b.do(ctx, by, "bulk-invoicing", list)
}

// Cancel takes a bill back. One that was cancelled before is a success too. Fails: CodeAppKeyRefused.
func (b *Bills) Cancel(ctx context.Context, by Account, reference string) (BillAnswer, error) {
	answer, err := b.do(ctx, by, "cancel-single-invoice", map[string]string{"externalReference": reference})
	switch r := answer.Refusal; {
	case r == nil:
	case r.Code == "409" || r.Status == http.StatusConflict:
		return BillAnswer{Outcome: BillTaken}, nil
	case r.Code == "404":
		answer.Outcome = BillUnknown
	}
	return answer, err
}

// Acknowledge tells the bill manager that a payment was booked, upon which it sends the customer a receipt. It names
// the transaction, so it may be repeated. Fails: CodeAppKeyRefused.
func (b *Bills) Acknowledge(ctx context.Context, by Account, p BillPayment) (BillAnswer, error) {
	return b.do(ctx, by, "reconciliation", map[string]string{
		"paymentDate": p.PaidAt.In(eastAfrica).Format(time.DateOnly), "paidAmount": p.Amount.Decimal(),
		"accountReference": p.AccountReference, "transactionId": p.TransactionID, "phoneNumber": p.Phone,
		"fullName": p.Name, "invoiceName": p.InvoiceName, "externalReference": p.Reference,
	})
}

// Check tells what is wrong with a bill that cannot be sent. Fails: invalid_phone, failure.Invalid.
func (b Bill) Check() error {
	_, err := b.body()
	return err
}

// body is the bill on the wire. Fails as Check does.
func (b Bill) body() (map[string]any, error) {
	phone, err := NormalizePhone(b.Phone)
	if err != nil {
		return nil, err
	}
	var f failure.Faults
	f.Check(b.Reference != "", "reference", "is required")
	f.Check(strings.TrimSpace(b.Name) != "", "name", "is required")
	f.Check(b.AccountReference != "", "accountReference", "is required")
	f.Check(b.Amount.Positive() && b.Amount.Currency == money.KES, "amount", "must be positive, in KES")
	f.Check(!b.DueOn.IsZero(), "dueOn", "is required")
	if err := f.Err(); err != nil {
		return nil, err
	}
	body := map[string]any{
		"externalReference": b.Reference, "billedFullName": b.Name, "billedPhoneNumber": phone,
		"billedPeriod": b.Period, "invoiceName": b.InvoiceName, "dueDate": b.DueOn.String(),
		"accountReference": b.AccountReference, "amount": fmt.Sprint(b.Amount.CeilMajor().Minor / money.KES.Unit()),
	}
	if len(b.Items) > 0 {
		items := make([]map[string]string, 0, len(b.Items))
		for _, i := range b.Items {
			items = append(items, map[string]string{"itemName": i.Name, "amount": i.Amount.Decimal()})
		}
		body["invoiceItems"] = items
	}
	return body, nil
}

// do makes a call with the key of the opt-in.
func (b *Bills) do(ctx context.Context, by Account, operation string, body any) (BillAnswer, error) {
	res := b.client.calls(ctx, by.Credentials, call{
		operation: "bill_" + operation, path: b.prefix + operation,
		extra: map[string]string{"appKey": by.AppKey.Reveal()}, body: body,
	})
	_, answer := b.read(res)
	if r := answer.Refusal; r != nil && keyRefused(r) {
		return answer, &failure.Error{Kind: failure.Refused, Code: CodeAppKeyRefused, Cause: r,
			Message: "The bill manager does not accept the key of the platform: opt in again."}
	}
	return answer, nil
}

// keyRefused reports whether a refusal is about who calls.
func keyRefused(r *Refusal) bool {
	return r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden || r.Code == "401" || r.Code == "403"
}

// read tells what an answer means. Success is in the body: HTTP 200 alone does not say so. An internal error of the
// provider leaves open whether it has acted.
func (b *Bills) read(res result) (reply billReply, answer BillAnswer) {
	switch {
	case res.err != nil && !res.sent:
		return reply, BillAnswer{Outcome: BillNotSent, Cause: unavailable(res.err)}
	case res.err != nil:
		return reply, BillAnswer{Outcome: BillInDoubt, Cause: res.err}
	}
	refusal := res.refusal()
	if err := json.Unmarshal(res.body, &reply); refusal == nil && (err != nil || reply.Code == "") {
		return reply, BillAnswer{
			Outcome: BillInDoubt, Cause: fmt.Errorf("answer with status %d cannot be read", res.status),
		}
	}
	if refusal == nil && reply.Code == "200" && res.status < http.StatusMultipleChoices {
		return reply, BillAnswer{Outcome: BillTaken}
	}
	if refusal == nil {
		refusal = &Refusal{
			Status: res.status, Code: string(reply.Code), Message: string(cmp.Or(reply.Status, reply.Message)),
		}
	}
	if strings.Contains(refusal.Code, ".") && !strings.HasPrefix(refusal.Code, "5") {
		// The words of what stands before the bill manager, as of a token that somebody else has replaced meanwhile.
		return reply, BillAnswer{Outcome: BillNotSent, Cause: unavailable(refusal)}
	}
	answer = BillAnswer{Outcome: BillRefused, Refusal: refusal}
	if res.status >= http.StatusInternalServerError || strings.HasPrefix(refusal.Code, "5") {
		answer.Outcome, answer.Cause = BillInDoubt, refusal
	}
	return reply, answer
}
