package mobilemoney

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Limits of one prompt. Source: docs/facts/mobile-money.md#payment-prompt.
const (
	MinPromptUnits  = 1
	MaxPromptUnits  = 250_000
	MaxReference    = 12
	MaxDescription  = 13
	transactionType = "CustomerPayBillOnline"
)

// PromptRequest asks a customer to pay.
type PromptRequest struct {
	Phone            string       // in any form that NormalizePhone takes
	Amount           money.Amount // shillings; rounded up to whole ones
	CallbackURL      string       // carries the attempt's secret (docs/rules/payments.md#secret-addresses)
	AccountReference string       // 1 to 12 characters, unique per attempt (docs/rules/payments.md#account-reference)
	Description      string       // 1 to 13 characters
}

// LogValue hides the phone and the callback address.
func (q PromptRequest) LogValue() slog.Value {
	return slog.GroupValue(slog.String("reference", q.AccountReference), slog.String("amount", q.Amount.String()))
}

// String hides the phone and the callback address.
func (q PromptRequest) String() string { return "prompt for " + q.AccountReference }

// Outcome tells what is known about a prompt after the attempt to send it.
type Outcome string

// The outcomes. Only NotSent may be tried again; InDoubt is found out by callback, query or sweep.
const (
	Accepted Outcome = "accepted" // on its way to the handset; not paid
	Refused  Outcome = "refused"  // the provider said no: nothing will happen
	InDoubt  Outcome = "in_doubt" // it left, and no readable answer came: the prompt may be on the handset
	NotSent  Outcome = "not_sent" // it certainly never left, or was never processed
)

// PromptAnswer is the outcome with what came along.
type PromptAnswer struct {
	Outcome           Outcome
	MerchantRequestID string
	CheckoutRequestID string // set when accepted
	CustomerMessage   string // the provider's, when accepted
	Refusal           *Refusal
	// Cause is why a prompt is in doubt, for the log.
	Cause error
}

// promptBody is the request on the wire. Source: docs/facts/mobile-money.md#payment-prompt.
type promptBody struct {
	BusinessShortCode string
	Password          string
	Timestamp         string
	TransactionType   string
	Amount            int64
	PartyA            string
	PartyB            string
	PhoneNumber       string
	CallBackURL       string
	AccountReference  string
	TransactionDesc   string
}

// promptReply is the provider's answer.
type promptReply struct {
	MerchantRequestID   text
	CheckoutRequestID   text
	ResponseCode        text
	ResponseDescription text
	CustomerMessage     text
}

// Check names what is wrong with a request, as failure.Invalid.
func (q PromptRequest) Check() error {
	var faults failure.Faults
	if _, err := NormalizePhone(q.Phone); err != nil {
		faults.Add("phone", "must look like +254XXXXXXXXX, 254XXXXXXXXX or 0XXXXXXXXX")
	}
	inRange := q.Amount.Positive() && q.Amount.Minor <= MaxPromptUnits*money.KES.Unit()
	faults.Check(q.Amount.Currency == money.KES && inRange, "amount", "must be from %d to %d KES", MinPromptUnits,
		MaxPromptUnits)
	u, err := url.Parse(q.CallbackURL)
	faults.Check(err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http"), "callbackUrl",
		"must be a URL")
	faults.Check(printable(q.AccountReference, MaxReference), "accountReference", "must have 1 to %d plain characters",
		MaxReference)
	faults.Check(printable(q.Description, MaxDescription), "description", "must have 1 to %d plain characters",
		MaxDescription)
	return faults.Err()
}

// printable tells whether s has 1 to limit visible ASCII characters or spaces.
func printable(s string, limit int) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= limit
}

// Prompt asks the provider once to put a prompt on the customer's handset. The outcome is always set. The error is set
// when, and only when, the outcome is NotSent: invalid input, or failure.Unavailable or Refused of the token or the
// breaker.
func (c *Client) Prompt(ctx context.Context, creds Credentials, q PromptRequest) (PromptAnswer, error) {
	notSent := PromptAnswer{Outcome: NotSent}
	if err := creds.checkPrompting(); err != nil {
		return notSent, err
	}
	if err := q.Check(); err != nil {
		return notSent, err
	}
	phone, err := NormalizePhone(q.Phone)
	if err != nil {
		return notSent, err
	}
	password, timestamp := creds.password(c.endpoint.clock.Now())
	res := c.authorised(ctx, "prompt", pathPrompt, creds, promptBody{
		BusinessShortCode: creds.ShortCode, Password: password, Timestamp: timestamp, TransactionType: transactionType,
		Amount: q.Amount.CeilMajor().Minor / money.KES.Unit(), PartyA: phone, PartyB: creds.ShortCode,
		PhoneNumber: phone, CallBackURL: q.CallbackURL, AccountReference: q.AccountReference,
		TransactionDesc: q.Description,
	})
	if res.err != nil && !res.sent {
		return notSent, unavailable(fmt.Errorf("send prompt: %w", res.err))
	}
	return readPrompt(res), nil
}

// readPrompt tells the outcome of a request that left.
func readPrompt(res result) PromptAnswer {
	if res.err != nil {
		return PromptAnswer{Outcome: InDoubt, Cause: res.err}
	}
	if refusal := res.refusal(); refusal != nil {
		if res.status == http.StatusGatewayTimeout { // the provider's front door gave up on what is behind it
			return PromptAnswer{Outcome: InDoubt, Cause: refusal}
		}
		return PromptAnswer{Outcome: Refused, Refusal: refusal}
	}
	var reply promptReply
	readable := json.Unmarshal(res.body, &reply) == nil
	switch {
	case readable && res.status == http.StatusOK && reply.ResponseCode == "0" && reply.CheckoutRequestID != "":
		return PromptAnswer{Outcome: Accepted, MerchantRequestID: string(reply.MerchantRequestID),
			CheckoutRequestID: string(reply.CheckoutRequestID), CustomerMessage: string(reply.CustomerMessage)}
	case readable && reply.ResponseCode != "" && reply.ResponseCode != "0":
		return PromptAnswer{Outcome: Refused, MerchantRequestID: string(reply.MerchantRequestID), Refusal: &Refusal{
			Status: res.status, Code: string(reply.ResponseCode), Message: string(reply.ResponseDescription)}}
	case res.status == http.StatusUnauthorized: // twice, with a new token: refused at the door
		return PromptAnswer{
			Outcome: Refused, Refusal: &Refusal{
				Status: res.status, Code: fmt.Sprint(res.status), Message: "the token is not accepted",
			},
		}
	}
	return PromptAnswer{Outcome: InDoubt, Cause: fmt.Errorf("answer with status %d cannot be read", res.status)}
}
