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

// Limits of one prompt: whole shillings, and characters. Source: docs/facts/mobile-money.md#payment-prompt.
const (
	MinPromptUnits  = 1
	MaxPromptUnits  = 250_000
	MaxReference    = 12
	MaxDescription  = 13
	transactionType = "CustomerPayBillOnline"
)

// PromptRequest has the values of one prompt; Check has their rules.
type PromptRequest struct {
	Phone            string       // in any form that NormalizePhone accepts
	Amount           money.Amount // shillings; rounded up to whole ones
	CallbackURL      string       // carries the attempt's secret (docs/rules/payments.md#secret-addresses)
	AccountReference string       // 1 to 12 characters, unique per attempt (docs/rules/payments.md#account-reference)
	Description      string       // 1 to 13 characters
}

// LogValue leaves out the phone and the callback address.
func (q PromptRequest) LogValue() slog.Value {
	return slog.GroupValue(slog.String("reference", q.AccountReference), slog.String("amount", q.Amount.String()))
}

// String leaves out the phone and the callback address, so that fmt cannot print them.
func (q PromptRequest) String() string { return "prompt for " + q.AccountReference }

// Outcome says how much is known about a prompt after the attempt to send it.
type Outcome string

// The outcomes. Only NotSent may be tried again; InDoubt is resolved by callback, status query or sweep.
const (
	Accepted Outcome = "accepted" // on its way to the handset; not paid
	Refused  Outcome = "refused"  // the provider refused: the customer sees no prompt
	InDoubt  Outcome = "in_doubt" // sent without a readable answer: the prompt may be on the handset
	NotSent  Outcome = "not_sent" // certainly not sent, or not processed
)

// PromptAnswer is the outcome with the provider's ids and texts.
type PromptAnswer struct {
	Outcome           Outcome
	MerchantRequestID string
	CheckoutRequestID string // set when accepted
	CustomerMessage   string // the provider's, when accepted
	Refusal           *Refusal
	// Cause is the error that put a prompt in doubt, for the log.
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

// promptReply is the answer on the wire. A ResponseCode other than "0" is a refusal.
type promptReply struct {
	MerchantRequestID   text
	CheckoutRequestID   text
	ResponseCode        text
	ResponseDescription text
	CustomerMessage     text
}

// Check fails with failure.Invalid and names every wrong field.
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

// printable reports whether s has 1 to limit visible ASCII characters or spaces.
func printable(s string, limit int) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= limit
}

// Prompt asks the provider once to show a prompt on the customer's handset. The outcome is always set. The error is set
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

// readPrompt classifies the answer to a request that was sent.
func readPrompt(res result) PromptAnswer {
	if res.err != nil {
		return PromptAnswer{Outcome: InDoubt, Cause: res.err}
	}
	if refusal := res.refusal(); refusal != nil {
		if res.status == http.StatusGatewayTimeout { // the provider's gateway timed out: the prompt may be processed
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
	case res.status == http.StatusUnauthorized: // also with a new token: refused before processing
		return PromptAnswer{
			Outcome: Refused, Refusal: &Refusal{
				Status: res.status, Code: fmt.Sprint(res.status), Message: "the token is not accepted",
			},
		}
	}
	return PromptAnswer{Outcome: InDoubt, Cause: fmt.Errorf("answer with status %d cannot be read", res.status)}
}
