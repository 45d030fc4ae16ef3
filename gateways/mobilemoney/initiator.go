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

// Initiator is the operator of a shortcode who may ask for the status of transactions and for reversals. The zero value
// is none. Source: docs/facts/mobile-money.md#asynchronous-calls.
type Initiator struct {
	Name string
	// SecurityCredential is the initiator's password, encrypted for the provider in base64.
	SecurityCredential string
}

// LogValue hides the credential from the log.
func (Initiator) LogValue() slog.Value { return slog.StringValue("initiator") }

// String hides the credential from fmt.
func (Initiator) String() string { return "initiator" }

// GoString hides the credential from %#v, too.
func (Initiator) GoString() string { return "initiator" }

// Usable reports whether there is an initiator.
func (i Initiator) Usable() bool { return i.Name != "" && i.SecurityCredential != "" }

// check fails with the missing fields.
func (i Initiator) check() error {
	var faults failure.Faults
	faults.Check(i.Name != "", "initiator", "is required")
	faults.Check(i.SecurityCredential != "", "securityCredential", "is required")
	return faults.Err()
}

// ResultURLs are the addresses at which the provider tells the result of a request, or that it has not come to it. Both
// have a secret token and are never logged.
type ResultURLs struct {
	Result  string
	Timeout string
}

// check fails when an address cannot be called.
func (r ResultURLs) check() error {
	var faults failure.Faults
	for name, address := range map[string]string{"resultUrl": r.Result, "timeoutUrl": r.Timeout} {
		u, err := url.Parse(address)
		faults.Check(err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http"), name, "must be a URL")
	}
	return faults.Err()
}

// StatusRequest asks about one transaction, by its receipt number or else by the id of the request that made it.
type StatusRequest struct {
	ReceiptNumber            string
	OriginatorConversationID string // of a reversal, or the MerchantRequestID of a prompt
	URLs                     ResultURLs
}

// ReversalRequest asks to send all of a payment back to its payer.
type ReversalRequest struct {
	ReceiptNumber string
	Amount        money.Amount // all of the payment
	URLs          ResultURLs
}

// Acknowledgement is the answer to a request whose result is posted later. Accepted says that the provider will work on
// it, not how it ends. Cause says why the answer is missing when the outcome is InDoubt.
type Acknowledgement struct {
	Outcome                  Outcome
	ConversationID           string
	OriginatorConversationID string
	Refusal                  *Refusal // when Refused
	Cause                    error
}

// identifierShortcode says on the wire that a party is a shortcode: in a status request, and in a reversal.
// Source: docs/facts/mobile-money.md#asynchronous-calls.
const (
	identifierShortcode = "4"
	receiverShortcode   = "11"
)

// statusBody is a status request on the wire.
type statusBody struct {
	Initiator                string
	SecurityCredential       string
	CommandID                string
	TransactionID            string `json:",omitempty"`
	OriginatorConversationID string `json:",omitempty"`
	PartyA                   string
	IdentifierType           string
	ResultURL                string
	QueueTimeOutURL          string
	Remarks                  string
	Occasion                 string
}

// reversalBody is a reversal on the wire; the provider misspells RecieverIdentifierType.
type reversalBody struct {
	Initiator              string
	SecurityCredential     string
	CommandID              string
	TransactionID          string
	Amount                 json.Number
	ReceiverParty          string
	RecieverIdentifierType string
	ResultURL              string
	QueueTimeOutURL        string
	Remarks                string
	Occasion               string
}

// AskStatus asks for the status of a transaction; the result is posted to the addresses. It may be repeated, since it
// moves nothing. Fails: failure.Invalid, failure.Refused with the provider's words, failure.Unavailable.
func (c *Client) AskStatus(ctx context.Context, creds Credentials, by Initiator, q StatusRequest) error {
	var faults failure.Faults
	faults.Check(printable(q.ReceiptNumber, maxIdentifier) || printable(q.OriginatorConversationID, maxIdentifier),
		"transactionId", "is required")
	for _, err := range []error{creds.check(), by.check(), q.URLs.check(), faults.Err()} {
		if err != nil {
			return err
		}
	}
	res := c.authorised(ctx, "transaction_status", pathStatus, creds, statusBody{
		Initiator: by.Name, SecurityCredential: by.SecurityCredential, CommandID: "TransactionStatusQuery",
		TransactionID: q.ReceiptNumber, OriginatorConversationID: q.OriginatorConversationID, PartyA: creds.ShortCode,
		IdentifierType: identifierShortcode, ResultURL: q.URLs.Result, QueueTimeOutURL: q.URLs.Timeout,
		Remarks: "status", Occasion: "status",
	})
	if a := readAcknowledgement(res); a.Outcome != Accepted {
		if a.Refusal != nil {
			return &failure.Error{
				Kind: failure.Refused, Code: "provider_refused", Message: a.Refusal.Message, Cause: a.Refusal,
			}
		}
		return res.failed("ask for the status of a transaction")
	}
	return nil
}

// Reverse asks the provider once to send a payment back. The outcome is always set. The error is set when, and only
// when, the outcome is NotSent.
func (c *Client) Reverse(
	ctx context.Context, creds Credentials, by Initiator, q ReversalRequest,
) (Acknowledgement, error) {
	notSent := Acknowledgement{Outcome: NotSent}
	var faults failure.Faults
	faults.Check(printable(q.ReceiptNumber, maxIdentifier), "transactionId", "is required")
	faults.Check(q.Amount.Positive() && q.Amount.Currency == money.KES, "amount", "must be above zero, in KES")
	for _, err := range []error{creds.check(), by.check(), q.URLs.check(), faults.Err()} {
		if err != nil {
			return notSent, err
		}
	}
	amount, err := plainNumber(q.Amount.Decimal())
	if err != nil {
		return notSent, err
	}
	res := c.authorised(ctx, "reversal", pathReversal, creds, reversalBody{
		Initiator: by.Name, SecurityCredential: by.SecurityCredential, CommandID: "TransactionReversal",
		TransactionID: q.ReceiptNumber, Amount: json.Number(amount), ReceiverParty: creds.ShortCode,
		RecieverIdentifierType: receiverShortcode, ResultURL: q.URLs.Result, QueueTimeOutURL: q.URLs.Timeout,
		Remarks: "refund", Occasion: "refund",
	})
	if res.err != nil && !res.sent {
		return notSent, unavailable(fmt.Errorf("send reversal: %w", res.err))
	}
	a := readAcknowledgement(res)
	// An internal error of the provider may have come after it had begun: the money must not go back twice.
	if a.Outcome == Refused && a.Refusal.Status >= http.StatusInternalServerError {
		return Acknowledgement{Outcome: InDoubt, Cause: a.Refusal}, nil
	}
	return a, nil
}

// readAcknowledgement classifies the answer to a request that was sent.
func readAcknowledgement(res result) Acknowledgement {
	if res.err != nil {
		return Acknowledgement{Outcome: InDoubt, Cause: res.err}
	}
	if refusal := res.refusal(); refusal != nil {
		return Acknowledgement{Outcome: Refused, Refusal: refusal}
	}
	var reply struct {
		ConversationID, OriginatorConversationID text
		ResponseCode, ResponseDescription        text
	}
	readable := json.Unmarshal(res.body, &reply) == nil
	switch {
	case readable && res.status == http.StatusOK && reply.ResponseCode == "0":
		return Acknowledgement{
			Outcome: Accepted, ConversationID: string(reply.ConversationID),
			OriginatorConversationID: string(reply.OriginatorConversationID),
		}
	case readable && reply.ResponseCode != "" && reply.ResponseCode != "0":
		return Acknowledgement{Outcome: Refused, Refusal: &Refusal{
			Status: res.status, Code: string(reply.ResponseCode), Message: string(reply.ResponseDescription),
		}}
	case res.status == http.StatusUnauthorized: // also with a new token: refused before processing
		return Acknowledgement{Outcome: Refused, Refusal: &Refusal{
			Status: res.status, Code: fmt.Sprint(res.status), Message: "the token is not accepted",
		}}
	}
	return Acknowledgement{InDoubt, "", "", nil, fmt.Errorf("answer with status %d cannot be read", res.status)}
}
